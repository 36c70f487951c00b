// Writes the declarations of records and operations as tables of Lua, which dissector.lua reads.
// May import: protocol/index.ts.
import * as protocol from '../../protocol/index.ts'
import type { Codec, Type } from '../../protocol/index.ts'

const { errnos, opcodes } = protocol

/** What Lua has as a literal. The keys of a Map are numbers. */
type LuaValue = string | number | boolean | undefined | readonly LuaValue[] | LuaTable
type LuaTable = ReadonlyMap<number, LuaValue> | { readonly [key: string]: LuaValue }

type Numbers = Readonly<Record<string, number>>

/** The numbers that have names, by the filter of their fields. */
const vocabularies = {
  opcode: opcodes,
  err: { OK: 0, ...errnos },
  event: protocol.eventTypes,
  state: protocol.keeperStates,
  flags: protocol.createModes,
  mode: protocol.addWatchModes,
  watcher_type: protocol.watcherTypes,
} satisfies Record<string, Numbers>

/** The fields whose filter has another name, because `type` means something else in each record. */
const filters: Readonly<Record<string, keyof typeof vocabularies | 'auth_type'>> = {
  'RequestHeader.type': 'opcode',
  'MultiHeader.type': 'opcode',
  'WatcherEvent.type': 'event',
  'CheckWatchesRequest.type': 'watcher_type',
  'RemoveWatchesRequest.type': 'watcher_type',
  'AuthPacket.type': 'auth_type',
}

/** The names of the fields that hold a password or a credential. The tree does not show their values. */
const SECRETS = ['passwd', 'auth', 'token']

/** Returns the tables `names`, `xids`, `records` and `operations`, as local variables of Lua. */
export function declarations(): string {
  const all = Object.values(protocol.operations)
  const { RequestHeader, ReplyHeader, WatcherEvent, ConnectRequest, ConnectResponse } = protocol
  const records = new Map<string, LuaValue>()
  for (const codec of [RequestHeader, ReplyHeader, WatcherEvent, ConnectRequest, ConnectResponse])
    declare(codec, records)
  for (const { request, response } of all) for (const codec of [request, response]) declare(codec, records)
  const operations = all.map(({ name, opcode, request, response, watch }): [number, LuaValue] => [
    opcode,
    { name, request: request.name, response: response.name, watch },
  ])
  const names = Object.entries(vocabularies).map(([filter, numbers]) => [filter, namesOf(numbers)])
  return [
    local('names', Object.fromEntries(names) as LuaTable),
    local('xids', protocol.xids),
    local('records', Object.fromEntries(records)),
    local('operations', new Map(operations)),
  ].join('\n')
}

/** Adds a record, and those within it. */
function declare({ name: record, layout }: Codec<unknown>, records: Map<string, LuaValue>): void {
  if (records.has(record)) return
  if (layout.is === 'fields') {
    const { fields } = layout
    records.set(
      record,
      fields.map(({ name, type }) => fieldOf(record, name, type)),
    )
    for (const { type } of fields) if ('of' in type) declare(type.of, records)
    return
  }
  const items = new Map<number, string>()
  records.set(record, { header: layout.header.name, items })
  declare(layout.header, records)
  for (const opcode of Object.values(opcodes)) {
    const item = layout.itemFor(opcode)
    if (item === undefined) continue
    items.set(opcode, item.name)
    declare(item, records)
  }
}

const fieldOf = (record: string, name: string, type: Type): LuaTable => ({
  name,
  is: type.is,
  of: 'of' in type ? type.of.name : undefined,
  filter: filters[`${record}.${name}`],
  secret: SECRETS.includes(name) || undefined,
})

const namesOf = (numbers: Numbers): ReadonlyMap<number, string> =>
  new Map(Object.entries(numbers).map(([name, number]) => [number, name]))

const local = (name: string, table: LuaTable): string =>
  [`local ${name} = {`, ...entriesOf(table).map(entry => `  ${entry},`), '}'].join('\n')

/** The names and words of the protocol need no escape in Lua. */
function literal(value: LuaValue): string {
  if (typeof value === 'string') return `"${value}"`
  if (typeof value !== 'object') return String(value)
  const items = Array.isArray(value) ? (value as readonly LuaValue[]).map(literal) : entriesOf(value as LuaTable)
  return `{ ${items.join(', ')} }`
}

const entriesOf = (table: LuaTable): string[] =>
  table instanceof Map
    ? [...(table as ReadonlyMap<number, LuaValue>)].map(([key, value]) => `[${key}] = ${literal(value)}`)
    : Object.entries(table)
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => `${key} = ${literal(value as LuaValue)}`)
