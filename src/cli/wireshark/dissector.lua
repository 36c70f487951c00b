-- Dissects the client protocol of Apache ZooKeeper. The declarations above are those of zkwire, so that both read the
-- same fields. Works from Wireshark 3.4 on, with Lua 5.1 to 5.4.

local zookeeper = Proto("zookeeper", "Apache ZooKeeper")

-- Declares the fields. A filter is named by the fields that lead to it: `zookeeper.stat.czxid`, `zookeeper.acl.id.scheme`.

local fields = {}
local constructors = {
  bool = function(abbreviation, name) return ProtoField.bool(abbreviation, name) end,
  int = function(abbreviation, name, values) return ProtoField.int32(abbreviation, name, base.DEC, values) end,
  long = function(abbreviation, name) return ProtoField.uint64(abbreviation, name, base.HEX) end,
  time = function(abbreviation, name) return ProtoField.int64(abbreviation, name, base.DEC) end,
  string = function(abbreviation, name) return ProtoField.string(abbreviation, name) end,
  buffer = function(abbreviation, name) return ProtoField.bytes(abbreviation, name) end,
}
local aliases = { stringOrNull = "string", stringOrEmpty = "string", strings = "string" }

local function pathOf(prefix, field) return prefix .. (field.filter or field.name) end

local function declareFields(prefix, record)
  for _, field in ipairs(record) do
    local path = pathOf(prefix, field)
    if field.of then
      declareFields(path .. ".", records[field.of])
    elseif not fields[path] and not field.secret then
      local construct = constructors[aliases[field.is] or field.is]
      fields[path] = construct("zookeeper." .. path, field.name, names[field.filter or field.name])
    end
  end
end

for _, record in pairs(records) do declareFields("", record) end
fields.length = ProtoField.int32("zookeeper.length", "length")
fields.operation = ProtoField.string("zookeeper.operation", "operation")
fields.error = ProtoField.string("zookeeper.error", "error")
fields.word = ProtoField.string("zookeeper.word", "four-letter word")
fields.answer = ProtoField.string("zookeeper.answer", "answer to the four-letter word")
fields.request_in = ProtoField.framenum("zookeeper.request_in", "answers the request in", base.NONE, frametype.REQUEST)
fields.reply_in = ProtoField.framenum("zookeeper.reply_in", "is answered in", base.NONE, frametype.RESPONSE)
fields.time = ProtoField.relative_time("zookeeper.time", "time since the request")
fields.watch_set_in = ProtoField.framenum("zookeeper.watch_set_in", "the watch was set in")
zookeeper.fields = fields

local malformed = ProtoExpert.new("zookeeper.malformed", "The bytes do not fit the record",
  expert.group.MALFORMED, expert.severity.ERROR)
local unaligned = ProtoExpert.new("zookeeper.unaligned", "No frame begins here that can be recognised",
  expert.group.SEQUENCE, expert.severity.NOTE)
zookeeper.experts = { malformed, unaligned }

zookeeper.prefs.ports = Pref.range("Ports of the servers", "2181,2281",
  "The ports on which servers listen, with TLS or without it", 65535)
zookeeper.prefs.longest = Pref.uint("Longest frame in bytes", 16777216,
  "Bytes that announce a longer frame are taken for the middle of a frame")

-- What is known of each connection. It is learnt when the packets are read for the first time, in their order; later
-- readings, in any order, look up what was learnt.

local streams = {}
local learnt = {}
function zookeeper.init()
  streams = {}
  learnt = {}
end

local streamNumber = Field.new("tcp.stream")

-- The requests in flight by xid, the watches by path, and the ends that have sent their first frame.
local function streamOf()
  local number = streamNumber().value
  if not streams[number] then streams[number] = { requests = {}, watches = {}, opened = {} } end
  return streams[number]
end

-- Several frames of one packet may share a key only if they say the same, as two pings do.
local function factsOf(...)
  local key = table.concat({ ... }, " ")
  if not learnt[key] then learnt[key] = {} end
  return learnt[key]
end

-- The numbers of a watch's kinds in removeWatches are bits.
local KINDS = { children = 1, data = 2, exist = 2 }
-- Which watches an event fires. A watch of exists() is one of data if the node is there.
local FIRES = {
  NodeCreated = { "exist", "data" },
  NodeDeleted = { "data", "exist", "children" },
  NodeDataChanged = { "data", "exist" },
  NodeChildrenChanged = { "children" },
}

-- The watch that was set first counts: setting it again changes nothing on the server.
local function setWatch(stream, kind, path, number)
  local watches = stream.watches
  if not watches[path] then watches[path] = {} end
  if not watches[path][kind] then watches[path][kind] = number end
end

-- Returns the packet whose request set the watch that fires, and forgets watches that fire once.
local function fire(stream, event, path)
  local own = stream.watches[path] or {}
  local found
  for _, kind in ipairs(FIRES[event] or {}) do
    found = found or own[kind]
    own[kind] = nil
  end
  found = found or own.persistent
  local above = path
  while not found and above do
    local watches = stream.watches[above]
    found = watches and watches.persistentRecursive
    if above == "/" then break end
    above = above:match("^(.+)/[^/]*$") or "/"
  end
  return found
end

local function removeWatches(stream, path, kinds)
  local own = stream.watches[path]
  if not own then return end
  -- 3 stands for all kinds, 4 and 5 for the persistent ones.
  for kind, bit in pairs(KINDS) do
    if kinds == 3 or kinds == bit then own[kind] = nil end
  end
  if kinds == 3 or kinds == 4 then own.persistent = nil end
  if kinds == 3 or kinds == 5 then own.persistentRecursive = nil end
end

-- Learns from a reply which watches the server has set.
local function learnFromReply(stream, request, err)
  local operation, values = operations[request.opcode], request.values
  if not operation then return end
  local isSet = err == "OK" or (err == "NONODE" and operation.name == "exists")
  if not isSet then return end
  if operation.watch and values.watch then
    setWatch(stream, operation.watch, values.path, request.number)
  elseif operation.name == "addWatch" then
    setWatch(stream, names.mode[values.mode], values.path, request.number)
  elseif operation.name == "removeWatches" then
    removeWatches(stream, values.path, values.watcher_type)
  end
end

local LISTS = {
  dataWatches = "data", existWatches = "exist", childWatches = "children",
  persistentWatches = "persistent", persistentRecursiveWatches = "persistentRecursive",
}
-- The events of setWatches come before its reply, so its watches count from the request on.
local function learnFromRequest(stream, values, number)
  for list, kind in pairs(LISTS) do
    for _, path in ipairs(values[list] or {}) do setWatch(stream, kind, path, number) end
  end
end

-- Reads the fields of a frame one after the other, and adds them to the tree.

local Reading = {}
Reading.__index = Reading

-- `stop` is the offset after the last byte of the frame.
local function reading(tvb, at, stop) return setmetatable({ tvb = tvb, at = at, stop = stop }, Reading) end

function Reading:remaining() return self.stop - self.at end

function Reading:take(count)
  if count < 0 or count > self:remaining() then error({ malformed = true }) end
  local range = self.tvb(self.at, count)
  self.at = self.at + count
  return range
end

-- Reads a length and that many bytes. The range of no bytes is nil, and `isNull` is true if the length is -1.
function Reading:counted()
  local size = self:take(4):int()
  if size < -1 then error({ malformed = true }) end
  return size > 0 and self:take(size) or nil, size == -1
end

local readers = {}
function readers.bool(self, tree, path)
  local range = self:take(1)
  tree:add(fields[path], range)
  return range:uint() ~= 0
end
function readers.int(self, tree, path)
  local range = self:take(4)
  tree:add(fields[path], range)
  return range:int()
end
function readers.long(self, tree, path)
  tree:add(fields[path], self:take(8))
end
readers.time = readers.long
function readers.string(self, tree, path, name)
  local start = self.at
  local range, isNull = self:counted()
  local text = range and range:raw() or ""
  if isNull then tree:add(self.tvb(start, 4), name .. ": null")
  elseif range then tree:add(fields[path], range, text)
  else tree:add(fields[path], self.tvb(start, 4), "") end
  return text
end
function readers.buffer(self, tree, path, name)
  local start = self.at
  local range, isNull = self:counted()
  if isNull then tree:add(self.tvb(start, 4), name .. ": null")
  elseif not range then tree:add(self.tvb(start, 4), name .. ": no bytes")
  else
    local item = tree:add(fields[path], range)
    local text = range:raw()
    if text:match("^[\32-\126]*$") then item:append_text(' "' .. text .. '"') end
  end
end
function readers.strings(self, tree, path, name)
  local start = self.at
  local count = self:take(4):int()
  local list = tree:add(self.tvb(start, 4), name .. ": " .. count)
  local texts = {}
  for i = 1, count do texts[i] = readers.string(self, list, path, name) end
  list:set_len(self.at - start)
  return texts
end
for alias, name in pairs(aliases) do readers[alias] = readers[alias] or readers[name] end

local readRecord

local function readVector(self, tree, path, field)
  local start = self.at
  local count = self:take(4):int()
  local list = tree:add(self.tvb(start, 4), field.name .. ": " .. (count == -1 and "null" or count))
  for i = 1, count do
    local first = self.at
    local item = list:add(self.tvb(first, 0), field.name .. " " .. i)
    readRecord(self, item, path .. ".", records[field.of])
    item:set_len(self.at - first)
  end
  list:set_len(self.at - start)
end

-- Reads one record. Returns the values that later frames or the summary need, by filter.
function readRecord(self, tree, prefix, record)
  local values = {}
  for _, field in ipairs(record) do
    -- Servers and clients before 3.4 omit the last field of the handshake.
    if field.name == "readOnly" and self:remaining() == 0 then break end
    local path = pathOf(prefix, field)
    if field.is == "record" then
      local start = self.at
      local item = tree:add(self.tvb(start, 0), field.name)
      readRecord(self, item, path .. ".", records[field.of])
      item:set_len(self.at - start)
    elseif field.of then
      readVector(self, tree, path, field)
    elseif field.secret then
      local start = self.at
      local range, isNull = self:counted()
      local text = isNull and "null" or (range and range:len() or 0) .. " bytes, not shown"
      tree:add(self.tvb(start, self.at - start), field.name .. ": " .. text)
    else
      values[field.filter or field.name] = readers[field.is](self, tree, path, field.name)
    end
  end
  return values
end

-- A field of its own, because filters do not find negative numbers by their names.
local function addError(tree, err)
  if err ~= 0 then tree:add(fields.error, names.err[err] or tostring(err)):set_generated() end
end

local OPCODE_OF_ERROR = -1
-- Reads what follows the header: fields, or the items of a multi, each with a header of its own.
local function readBody(self, tree, name)
  local record = records[name]
  if not record.items then return readRecord(self, tree, "", record) end
  local index = 0
  while true do
    local start = self.at
    local item = tree:add(self.tvb(start, 0), "item " .. index)
    local header = readRecord(self, item, "", records[record.header])
    if header.done then
      item:set_text("end of the items")
      item:set_len(self.at - start)
      return {}
    end
    item:set_text(index .. ": " .. (names.opcode[header.opcode] or header.opcode))
    local of = record.items[header.opcode]
    if not of then error({ malformed = true }) end
    local values = readRecord(self, item, "", records[of])
    if values.path then item:append_text(" " .. values.path) end
    if header.opcode == OPCODE_OF_ERROR then addError(item, values.err) end
    item:set_len(self.at - start)
    index = index + 1
  end
end

-- Recognises frames. Captures begin in the middle of frames, and lack packets.

-- True if the bytes are a handshake: the length of its password must fit the length of the frame.
local function isConnect(tvb, at, size, from)
  local passwordAt = from == "client" and 24 or 16
  if size < passwordAt + 4 or tvb:len() < at + 4 + passwordAt + 4 or tvb(at + 4, 4):int() ~= 0 then return false end
  local rest = size - passwordAt - 4 - math.max(0, tvb(at + 4 + passwordAt, 4):int())
  return rest == 0 or rest == 1
end

local LARGEST_OPCODE = 65535
-- True if the bytes that are there may be the beginning of a frame.
local function isPlausible(tvb, at, size, from)
  if size < 8 or size > zookeeper.prefs.longest then return false end
  local present = tvb:len() - at
  if isConnect(tvb, at, size, from) then return true end
  if from == "client" then
    if present < 12 then return true end
    local opcode = tvb(at + 8, 4):int()
    -- A handshake whose password is not there yet has the protocol version 0, and a zxid that looks like an opcode.
    return operations[opcode] ~= nil or (opcode >= 0 and opcode <= LARGEST_OPCODE and tvb(at + 4, 4):int() >= 0)
  end
  if present < 20 then return true end
  return (size >= 16 and names.err[tvb(at + 16, 4):int()] ~= nil) or tvb(at + 4, 4):int() == 0
end

-- The server is the end whose port is known, or the one to which a handshake goes, or the one with the lower port.
local function sender(stream, tvb, pinfo)
  if not stream.serverPort then
    local ports = tostring(zookeeper.prefs.ports)
    local function isKnown(port)
      for first, last in ports:gmatch("(%d+)%-?(%d*)") do
        if port >= tonumber(first) and port <= (tonumber(last) or tonumber(first)) then return true end
      end
      return false
    end
    local source, target = pinfo.src_port, pinfo.dst_port
    if isKnown(source) ~= isKnown(target) then
      stream.serverPort = isKnown(source) and source or target
    elseif tvb:len() >= 8 and isConnect(tvb, 0, tvb(0, 4):int(), "client") then
      stream.serverPort = target
    else
      stream.serverPort = math.min(source, target)
    end
  end
  return pinfo.src_port == stream.serverPort and "server" or "client"
end

-- Dissects single frames. Each function returns the summary of the frame.

local function labelOf(xid) return xid >= 0 and "#" .. xid .. " " or "" end

local function dissectConnect(self, tree, from)
  readRecord(self, tree, "", records[from == "client" and "ConnectRequest" or "ConnectResponse"])
  tree:add(fields.operation, "connect"):set_generated()
  return "connect"
end

local function dissectRequest(self, tree, pinfo, stream)
  local header = readRecord(self, tree, "", records.RequestHeader)
  local operation = operations[header.opcode]
  local name = operation and operation.name or "unknown operation " .. header.opcode
  tree:add(fields.operation, name):set_generated()
  local facts = factsOf(pinfo.number, "request", header.xid, header.opcode)
  if facts.reply then tree:add(fields.reply_in, facts.reply):set_generated() end
  local request = {
    opcode = header.opcode, name = name, values = {}, number = pinfo.number, time = pinfo.rel_ts, facts = facts,
  }
  if not pinfo.visited then
    local waiting = stream.requests[header.xid] or {}
    stream.requests[header.xid] = waiting
    table.insert(waiting, request)
  end
  if not operation then return labelOf(header.xid) .. name end
  request.values = readBody(self, tree, operation.request)
  if not pinfo.visited then learnFromRequest(stream, request.values, pinfo.number) end
  local path = request.values.path or request.values.prefixPath
  return labelOf(header.xid) .. name .. (path and " " .. path or "")
end

local function dissectEvent(self, tree, pinfo, stream)
  local values = readRecord(self, tree, "", records.WatcherEvent)
  tree:add(fields.operation, "event"):set_generated()
  local event = names.event[values.event] or "event " .. values.event
  local facts = factsOf(pinfo.number, "event", event, values.path)
  if not pinfo.visited then facts.watch = fire(stream, event, values.path) or facts.watch end
  if facts.watch then tree:add(fields.watch_set_in, facts.watch):set_generated() end
  return event .. " " .. values.path
end

local function dissectReply(self, tree, pinfo, stream)
  local header = readRecord(self, tree, "", records.ReplyHeader)
  if header.xid == xids.notification then return dissectEvent(self, tree, pinfo, stream) end
  local err = names.err[header.err] or "error " .. header.err
  addError(tree, header.err)
  local facts = factsOf(pinfo.number, "reply", header.xid)
  if not pinfo.visited then
    local waiting = stream.requests[header.xid]
    local request = waiting and table.remove(waiting, 1)
    if request then
      if #waiting == 0 then stream.requests[header.xid] = nil end
      request.facts.reply = pinfo.number
      facts.opcode, facts.name = request.opcode, request.name
      facts.request, facts.time = request.number, pinfo.rel_ts - request.time
      learnFromReply(stream, request, err)
    end
  end
  if not facts.name then
    self.at = self.stop
    return labelOf(header.xid) .. err .. ", to a request that is not in the capture"
  end
  tree:add(fields.operation, facts.name):set_generated()
  tree:add(fields.request_in, facts.request):set_generated()
  local seconds = math.floor(facts.time)
  tree:add(fields.time, NSTime.new(seconds, math.floor((facts.time - seconds) * 1e9 + 0.5))):set_generated()
  -- An operation that answers with an error sends no record, but for the results of a multi.
  if self:remaining() > 0 and operations[facts.opcode] then
    readBody(self, tree, operations[facts.opcode].response)
  end
  return labelOf(header.xid) .. facts.name .. " " .. err
end

local function dissectFrame(self, tree, pinfo, stream, from)
  local start, size = self.at, self.stop - self.at
  local facts = factsOf(pinfo.number, "handshake", from)
  if not pinfo.visited then
    facts.isFirst = facts.isFirst or not stream.opened[from]
    stream.opened[from] = true
  end
  if facts.isFirst and isConnect(self.tvb, start - 4, size, from) then return dissectConnect(self, tree, from) end
  if from == "client" then return dissectRequest(self, tree, pinfo, stream) end
  if size < 16 then error({ malformed = true }) end
  return dissectReply(self, tree, pinfo, stream)
end

local function addFrame(tvb, at, size, root, pinfo, stream, from)
  local tree = root:add(zookeeper, tvb(at, 4 + size))
  tree:add(fields.length, tvb(at, 4))
  local self = reading(tvb, at + 4, at + 4 + size)
  local isRead, summary = pcall(dissectFrame, self, tree, pinfo, stream, from)
  if not isRead then
    -- Errors that are no table are faults of this program.
    if type(summary) ~= "table" then error(summary, 0) end
    tree:add_proto_expert_info(malformed)
    summary = "malformed frame"
  elseif self:remaining() > 0 then
    tree:add(tvb(self.at, self:remaining()), self:remaining() .. " bytes that no declaration reads")
  end
  tree:append_text(", " .. from .. ": " .. summary)
  return summary
end

local function addWord(tvb, root, stream, from)
  local text = tvb():string()
  if from == "client" then stream.word = text:match("^%l+") end
  local tree = root:add(zookeeper, tvb())
  tree:add(fields[from == "client" and "word" or "answer"], tvb(), text)
  return from == "client" and "four-letter word " .. stream.word or "answer to " .. stream.word
end

-- Dissects the bytes of a segment, or of several that Wireshark has joined.

local TLS_HANDSHAKE, TLS_DATA = 0x14, 0x17
local function isTls(tvb)
  local type = tvb(0, 1):uint()
  return tvb:len() >= 3 and type >= TLS_HANDSHAKE and type <= TLS_DATA and tvb(1, 1):uint() == 3
end

function zookeeper.dissector(tvb, pinfo, root)
  local length = tvb:len()
  -- The dissector of TLS takes these bytes, and calls this one with what it has decrypted.
  if length == 0 or isTls(tvb) then return 0 end
  local stream = streamOf()
  local from = sender(stream, tvb, pinfo)
  pinfo.cols.protocol = "ZooKeeper"
  local isWord = from == "client" and length <= 6 and tvb():string():match("^%l%l%l%l%s*$") ~= nil
  if isWord or (from == "server" and stream.word) then
    pinfo.cols.info = addWord(tvb, root, stream, from)
    return length
  end
  local summaries = {}
  local at = 0
  while at < length do
    local present = length - at
    local size = present >= 4 and tvb(at, 4):int() or 0
    if present >= 4 and not isPlausible(tvb, at, size, from) then
      local tree = root:add(zookeeper, tvb(at), "Apache ZooKeeper, " .. from .. ": " .. present .. " bytes of a frame")
      tree:add_proto_expert_info(unaligned)
      table.insert(summaries, present .. " bytes of a frame whose beginning is not in the capture")
      break
    end
    if present < 4 or present - 4 < size then
      pinfo.desegment_offset = at
      pinfo.desegment_len = present < 4 and DESEGMENT_ONE_MORE_SEGMENT or size - (present - 4)
      break
    end
    table.insert(summaries, addFrame(tvb, at, size, root, pinfo, stream, from))
    at = at + 4 + size
  end
  if #summaries > 0 then pinfo.cols.info = from .. ": " .. table.concat(summaries, "; ") end
  return length
end

local registered
local function register()
  for _, name in ipairs({ "tcp.port", "tls.port" }) do
    local ports = DissectorTable.get(name)
    if registered then ports:remove(registered, zookeeper) end
    ports:add(zookeeper.prefs.ports, zookeeper)
  end
  registered = tostring(zookeeper.prefs.ports)
end
register()
zookeeper.prefs_changed = register
