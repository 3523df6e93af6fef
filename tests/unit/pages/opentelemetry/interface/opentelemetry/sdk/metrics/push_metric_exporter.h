#pragma once
#include "opentelemetry/declarations.h"
