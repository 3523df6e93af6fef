-- Shows pingloom's packets in Wireshark and tshark: report datagrams and their replies (docs/report-format.md), and probe
-- packets (docs/probe-packets.md). Copy it into Wireshark's folder of Lua plugins, or: tshark -X lua_script:pingloom.lua
-- For other ports than 20716 and 20710 choose PINGLOOM_REPORT or PINGLOOM_PROBE in "Decode As".

local REPORT_PORT, PROBE_PORT = 20716, 20710
local REPORT_MAGIC, PROBE_MAGIC = 0x5054, 0x504c
local REPORT_HEAD, ITEM_HEAD, REPLY_HEAD, PROBE_HEAD, SEAL = 32, 8, 24, 24, 8

local operations = { [1] = "key-write", [2] = "append", [3] = "increment", [4] = "postcard" }
local reply_types = { [1] = "credit", [2] = "NACK" }
local probe_types = { [1] = "PING", [2] = "PONG", [3] = "ACK" }
local clocks = { [0] = "none", [1] = "software", [2] = "kernel", [3] = "hardware" }

local report = Proto("pingloom_report", "pingloom telemetry reports")
local r = report.fields
r.version = ProtoField.uint8("pingloom_report.version", "Version")
r.flags = ProtoField.uint8("pingloom_report.flags", "Flags", base.HEX)
r.again = ProtoField.bool("pingloom_report.again", "Sent again", 8, nil, 0x01)
r.sealed = ProtoField.bool("pingloom_report.sealed", "Sealed", 8, nil, 0x02)
r.keeps = ProtoField.bool("pingloom_report.keeps", "Reporter keeps datagrams", 8, nil, 0x04)
r.reports = ProtoField.uint16("pingloom_report.reports", "Reports")
r.length = ProtoField.uint16("pingloom_report.length", "Length")
r.reporter = ProtoField.uint32("pingloom_report.reporter", "Reporter")
r.incarnation = ProtoField.uint32("pingloom_report.incarnation", "Incarnation", base.HEX)
r.sequence = ProtoField.uint32("pingloom_report.sequence", "Sequence")
r.skipped = ProtoField.uint32("pingloom_report.skipped", "Skipped reports")
r.oldest = ProtoField.uint64("pingloom_report.oldest", "Oldest report, UTC ns")
r.seal = ProtoField.bytes("pingloom_report.seal", "Seal")
r.operation = ProtoField.uint8("pingloom_report.operation", "Operation", base.DEC, operations)
r.words = ProtoField.uint8("pingloom_report.words", "Words of 4 bytes")
r.table = ProtoField.uint16("pingloom_report.table", "Table")
r.hop = ProtoField.uint8("pingloom_report.hop", "Hop")
r.hops = ProtoField.uint8("pingloom_report.hops", "Hops")
r.key = ProtoField.bytes("pingloom_report.key", "Key")
r.value = ProtoField.bytes("pingloom_report.value", "Value")
r.amount = ProtoField.uint64("pingloom_report.amount", "Amount")
r.type = ProtoField.uint8("pingloom_report.reply.type", "Reply", base.DEC, reply_types)
r.ranges = ProtoField.uint8("pingloom_report.reply.ranges", "Ranges")
r.till = ProtoField.uint32("pingloom_report.reply.until", "May send until")
r.lost = ProtoField.uint32("pingloom_report.reply.lost", "Lost datagrams")
r.first = ProtoField.uint32("pingloom_report.reply.first", "First missing")
r.count = ProtoField.uint32("pingloom_report.reply.count", "Missing")
local malformed = ProtoExpert.new("pingloom_report.malformed", "Lengths contradict each other", expert.group.MALFORMED,
                                  expert.severity.ERROR)
report.experts = { malformed }

-- Adds one report and returns its length, or nil if it does not fit.
local function add_item(bytes, tree)
  if bytes:len() < ITEM_HEAD then return nil end
  local length = bytes(1, 1):uint() * 4
  local key, value = bytes(4, 1):uint(), bytes(7, 1):uint()
  local value_at = ITEM_HEAD + math.floor((key + 3) / 4) * 4
  if length ~= value_at + math.floor((value + 3) / 4) * 4 or length > bytes:len() then return nil end
  local operation = bytes(0, 1):uint()
  local item = tree:add(report, bytes(0, length), "Report: " .. (operations[operation] or "unknown"))
  item:add(r.operation, bytes(0, 1))
  item:add(r.words, bytes(1, 1))
  item:add(r.table, bytes(2, 2))
  if operation == 4 then
    item:add(r.hop, bytes(5, 1))
    item:add(r.hops, bytes(6, 1))
  end
  if key > 0 then item:add(r.key, bytes(ITEM_HEAD, key)) end
  if value > 0 then item:add(r.value, bytes(value_at, value)) end
  if operation == 3 and value == 8 then item:add(r.amount, bytes(value_at, 8)) end
  return length
end

local function show_datagram(bytes, pinfo, tree)
  local flags = bytes(3, 1):uint()
  tree:add(r.version, bytes(2, 1))
  local bits = tree:add(r.flags, bytes(3, 1))
  for _, field in ipairs({ r.again, r.sealed, r.keeps }) do bits:add(field, bytes(3, 1)) end
  tree:add(r.reports, bytes(4, 2))
  tree:add(r.length, bytes(6, 2))
  tree:add(r.reporter, bytes(8, 4))
  tree:add(r.incarnation, bytes(12, 4))
  tree:add(r.sequence, bytes(16, 4))
  tree:add(r.skipped, bytes(20, 4))
  tree:add(r.oldest, bytes(24, 8))
  pinfo.cols.info = string.format("Reporter %u, sequence %u: %u reports", bytes(8, 4):uint(), bytes(16, 4):uint(),
                                  bytes(4, 2):uint())
  local sealed = flags % 4 >= 2
  local at, last = REPORT_HEAD, bytes:len() - (sealed and SEAL or 0)
  while at < last do
    local length = add_item(bytes(at, last - at), tree)
    if not length then break end
    at = at + length
  end
  if at ~= last or bytes(6, 2):uint() ~= bytes:len() then tree:add_proto_expert_info(malformed) end
  if sealed and at <= last then tree:add(r.seal, bytes(last, SEAL)) end
end

local function show_reply(bytes, pinfo, tree)
  local ranges = bytes(4, 1):uint()
  tree:add(r.version, bytes(2, 1))
  tree:add(r.type, bytes(3, 1))
  tree:add(r.ranges, bytes(4, 1))
  tree:add(r.reporter, bytes(8, 4))
  tree:add(r.incarnation, bytes(12, 4))
  tree:add(r.till, bytes(16, 4))
  tree:add(r.lost, bytes(20, 4))
  pinfo.cols.info = string.format("%s for reporter %u until %u", reply_types[bytes(3, 1):uint()] or "Reply",
                                  bytes(8, 4):uint(), bytes(16, 4):uint())
  local last = REPLY_HEAD + ranges * 8
  local more = bytes:len() - last
  if more ~= 0 and more ~= SEAL then return tree:add_proto_expert_info(malformed) end
  for at = REPLY_HEAD, last - 8, 8 do
    tree:add(r.first, bytes(at, 4))
    tree:add(r.count, bytes(at + 4, 4))
  end
  if more == SEAL then tree:add(r.seal, bytes(last, SEAL)) end
end

function report.dissector(buffer, pinfo, root)
  local bytes = buffer:range()
  if bytes:len() < REPLY_HEAD or bytes(0, 2):uint() ~= REPORT_MAGIC then return 0 end
  -- The length of a datagram stands where a reply has zeros.
  local is_reply = bytes(6, 2):uint() == 0
  if not is_reply and bytes:len() < REPORT_HEAD then return 0 end
  pinfo.cols.protocol = "PINGLOOM"
  local tree = root:add(report, bytes)
  if is_reply then show_reply(bytes, pinfo, tree) else show_datagram(bytes, pinfo, tree) end
  return bytes:len()
end

local probe = Proto("pingloom_probe", "pingloom probe")
local p = probe.fields
p.version = ProtoField.uint8("pingloom_probe.version", "Version")
p.type = ProtoField.uint8("pingloom_probe.type", "Type", base.DEC, probe_types)
p.stalled = ProtoField.bool("pingloom_probe.stalled", "Stalled", 8, nil, 0x01)
p.no_t3 = ProtoField.bool("pingloom_probe.no_t3", "No T3", 8, nil, 0x02)
p.clock = ProtoField.uint8("pingloom_probe.clock", "Clock", base.DEC, clocks)
p.length = ProtoField.uint16("pingloom_probe.length", "Length")
p.id = ProtoField.uint32("pingloom_probe.id", "Id")
p.incarnation = ProtoField.uint32("pingloom_probe.incarnation", "Incarnation", base.HEX)
p.nonce = ProtoField.uint64("pingloom_probe.nonce", "Nonce", base.HEX)
p.q_key = ProtoField.uint32("pingloom_probe.q_key", "Q_Key", base.HEX)
p.answer_label = ProtoField.uint32("pingloom_probe.answer_label", "Label of the answers", base.DEC)
p.counted = ProtoField.bool("pingloom_probe.counted", "Counted", 8, nil, 0x04)
p.deferrable = ProtoField.bool("pingloom_probe.deferrable", "ACK deferrable", 8, nil, 0x08)
p.probe = ProtoField.uint32("pingloom_probe.probe", "Hash of the probe's name", base.HEX)
p.window = ProtoField.uint32("pingloom_probe.window", "Window", base.DEC)
p.responder = ProtoField.uint64("pingloom_probe.responder", "T3 - T2, ns")
p.earlier = ProtoField.uint32("pingloom_probe.earlier", "Earlier exchange")
p.earlier_unknown = ProtoField.bool("pingloom_probe.earlier.unknown", "No T3", 32, nil, 0x80000000)
p.earlier_stalled = ProtoField.bool("pingloom_probe.earlier.stalled", "Stalled", 32, nil, 0x40000000)
p.earlier_responder = ProtoField.uint32("pingloom_probe.earlier.responder", "T3 - T2, ns", base.DEC, nil, 0x3fffffff)

function probe.dissector(buffer, pinfo, root)
  local bytes = buffer:range()
  if bytes:len() < PROBE_HEAD or bytes(0, 2):uint() ~= PROBE_MAGIC then return 0 end
  local kind = bytes(3, 1):uint()
  pinfo.cols.protocol = "PINGLOOM"
  pinfo.cols.info = string.format("%s id %u", probe_types[kind] or "Probe", bytes(8, 4):uint())
  local tree = root:add(probe, bytes)
  tree:add(p.version, bytes(2, 1))
  tree:add(p.type, bytes(3, 1))
  tree:add(p.stalled, bytes(4, 1))
  if kind == 3 then tree:add(p.no_t3, bytes(4, 1)) end
  tree:add(p.clock, bytes(5, 1))
  tree:add(p.length, bytes(6, 2))
  tree:add(p.id, bytes(8, 4))
  tree:add(p.incarnation, bytes(12, 4))
  tree:add(p.nonce, bytes(16, 8))
  if kind == 1 and bytes:len() >= PROBE_HEAD + 8 then
    tree:add(p.q_key, bytes(24, 4))
    tree:add(p.answer_label, bytes(28, 4))
    tree:add(p.counted, bytes(4, 1))
    tree:add(p.deferrable, bytes(4, 1))
  end
  if kind == 1 and math.floor(bytes(4, 1):uint() / 4) % 2 == 1 and bytes:len() >= PROBE_HEAD + 16 then
    tree:add(p.probe, bytes(32, 4))
    tree:add(p.window, bytes(36, 4))
  end
  for at = PROBE_HEAD, kind == 2 and bytes:len() - 8 or 0, 8 do
    local earlier = tree:add(p.earlier, bytes(at, 4))
    earlier:add(p.earlier_unknown, bytes(at + 4, 4))
    earlier:add(p.earlier_stalled, bytes(at + 4, 4))
    earlier:add(p.earlier_responder, bytes(at + 4, 4))
  end
  if kind == 3 and bytes:len() >= PROBE_HEAD + 8 then tree:add(p.responder, bytes(24, 8)) end
  return bytes:len()
end

local ports = DissectorTable.get("udp.port")
ports:add(REPORT_PORT, report)
ports:add(PROBE_PORT, probe)
