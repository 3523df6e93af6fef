#pragma once
#include "opentelemetry/sdk_setup.h"
