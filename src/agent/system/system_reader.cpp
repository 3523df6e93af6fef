#include "agent/system/system_reader.h"

#include "agent/system/host_parsers.h"

namespace pingloom::agent::system {

SystemReader::SystemReader(const std::filesystem::path& proc) {
  host_.push_back({KeptFile(proc / "stat"), parseStat});
  host_.push_back({KeptFile(proc / "loadavg"), parseLoad});
  host_.push_back({KeptFile(proc / "meminfo"), parseMemory});
  host_.push_back({KeptFile(proc / "vmstat"), parseVmstat});
  for (const char* name : {"cpu", "memory", "io", "irq"}) {
    pressures_.push_back({KeptFile(proc / "pressure" / name), name});
  }
}

void SystemReader::readHost(Readings& readings) {
  for (HostFile& one : host_) {
    if (const auto text = one.file.read()) one.parse(*text, readings);
  }
  for (PressureFile& one : pressures_) {
    if (const auto text = one.file.read()) parsePressure(one.name, *text, readings);
  }
}

}  // namespace pingloom::agent::system
