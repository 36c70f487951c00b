// Compares our codecs, numbers and path rules with ZooKeeper's own Java classes.
import { expect } from 'chai'
import fc from 'fast-check'
import {
  addWatchModes,
  createModes,
  errnos,
  eventTypes,
  keeperStates,
  MultiReadRequest,
  MultiRequest,
  MultiResponse,
  opcodes,
  pathProblem,
  perms,
  SyncRequest,
  watcherTypes,
  type Codec,
  type Type,
  type TypeOf,
} from '../../src/protocol/index.ts'
import { bmpStrings, strings, valuesOf } from '../support/arbitraries.ts'
import type { JavaProgram } from '../../environment/java-program.ts'
import { seed } from '../support/seeded-random.ts'
import { recordCodecs } from './codecs.ts'
import { startJuteEcho, type Tagged, type TaggedValue } from './jute-echo.ts'

const VALUES = 300

describe(`ZooKeeper's Java classes (SEED=${seed})`, () => {
  let java: JavaProgram
  let layouts: Map<string, Tagged>
  let numbers: Record<string, Record<string, number>>

  before(async function () {
    this.timeout(600_000)
    java = await startJuteEcho()
    layouts = new Map(Object.entries(JSON.parse(await java.request('layouts')) as Record<string, Tagged>))
    numbers = JSON.parse(await java.request('numbers')) as typeof numbers
  })

  after(() => java.close())

  /**
   * The Java class of one of our records. 3.8 appends readOnly to the connect records by hand, which JuteEcho marks
   * with a suffix. From 3.9 on it is a field, and the legacy records have no class.
   */
  function classOf(exported: string): string | undefined {
    const name = exported.replace('Legacy', '')
    if (!/^Connect/.test(name)) return name
    const isField = layouts.get(name)?.at(-1)?.[0] === 'readOnly'
    if (exported === name) return isField ? name : `${name}+readOnly`
    return isField ? undefined : name
  }

  describe('declare', () => {
    it('the same fields as our records: names, order and types', () => {
      for (const { exported, codec } of recordCodecs) {
        if (exported === 'EmptyRecord') continue
        const name = classOf(exported)
        if (name === undefined) continue
        const theirs = layouts.get(name.replace('+readOnly', ''))
        const appended: Tagged = name.endsWith('+readOnly') ? [['readOnly', 'bool']] : []
        expect(theirs && [...theirs, ...appended], exported).to.deep.equal(layoutOf(codec))
      }
    })

    it('no record that we lack, except one that servers never send', () => {
      const ours = new Set(recordCodecs.map(({ codec }) => codec.name))
      expect([...layouts.keys()].filter(name => !ours.has(name))).to.deep.equal(['StatPersisted'])
      expect([...ours].filter(name => !layouts.has(name))).to.deep.equal(['EmptyRecord'])
    })
  })

  describe('write and read', () => {
    /**
     * Random values with strings of the basic plane only. BinaryOutputArchive writes the halves of a surrogate pair one
     * by one, which is not UTF-8 and which its own reader cannot decode. The tests of `read a string` cover other
     * strings.
     */
    const valuesFor = <T>(codec: Codec<T>) => valuesOf(codec, bmpStrings)

    async function sameBytes(name: string, codec: Codec<unknown>, values: readonly unknown[]): Promise<void> {
      const ours = values.map(value => codec.encode(value).toString('hex'))
      const theirs = await java.requestAll(ours.map(bytes => `echo ${name} ${bytes}`))
      theirs.forEach((bytes, i) => {
        if (bytes !== ours[i])
          expect.fail(bytes, ours[i], `${name} ${show(values[i])}, from us by way of Java: ${bytes}`)
      })
      const questions = values.map((_, i) => `random ${name} ${seed + i} ${nullable(codec)} ${timesOf(codec)}`)
      const made = await java.requestAll(questions)
      expect(new Set(made).size, 'distinct values that Java generated').to.be.above(VALUES / 3)
      made.forEach((bytes, i) => {
        const value = codec.decode(Buffer.from(bytes, 'hex'))
        const again = codec.encode(value).toString('hex')
        if (again !== bytes)
          expect.fail(again, bytes, `${questions[i]} ${show(value)}, from Java by way of us: ${bytes}`)
      })
    }

    for (const { exported, codec } of recordCodecs) {
      if (exported === 'EmptyRecord') continue
      it(`${exported} as we do`, async function () {
        const name = classOf(exported)
        if (name === undefined) this.skip()
        await sameBytes(name, codec, fc.sample(valuesFor(codec), { numRuns: VALUES, seed }))
      })
    }

    // Java's MultiOperationRecord stores operations, not records. It derives the type from the create mode and never
    // sets a watch, so the mode must fit the type. A test below covers create2.

    it('MultiRequest as we do', async () => {
      const values = fc.sample(valuesFor(MultiRequest), { numRuns: VALUES, seed })
      const expressible = values.map(items => items.filter(({ type }) => type !== opcodes.create2).map(withFittingMode))
      await sameBytes('MultiRequest', MultiRequest, expressible)
    })

    it('MultiReadRequest as we do', async () => {
      const values = fc.sample(valuesFor(MultiReadRequest), { numRuns: VALUES, seed })
      const unwatched = values.map(items => items.map(({ type, body }) => ({ type, body: { ...body, watch: false } })))
      await sameBytes('MultiReadRequest', MultiReadRequest, unwatched)
    })

    it('MultiResponse as we do', async () => {
      await sameBytes('MultiResponse', MultiResponse, fc.sample(valuesFor(MultiResponse), { numRuns: VALUES, seed }))
    })

    it('a create2 in a multi as we do, or as a create (ZOOKEEPER-4026)', async () => {
      const body = { path: '/a', data: Buffer.from('d'), acl: [], flags: createModes.persistent }
      const create2 = MultiRequest.encode([{ type: opcodes.create2, body }]).toString('hex')
      const create = MultiRequest.encode([{ type: opcodes.create, body }]).toString('hex')
      expect(await java.request(`echo MultiRequest ${create2}`)).to.be.oneOf([create2, create])
    })

    it('no record that is too short, as we do', async () => {
      const bytes = SyncRequest.encode({ path: '/a' }).subarray(0, -1)
      expect(await java.requestAll([`echo SyncRequest ${bytes.toString('hex')}`])).to.deep.equal([
        '! java.io.EOFException',
      ])
    })
  })

  describe('read a string', () => {
    it('that we wrote unchanged, astral characters included', async () => {
      const samples = fc.sample(strings, { numRuns: 2000, seed })
      const read = await java.requestAll(samples.map(s => `string ${Buffer.from(s).toString('hex')}`))
      expect(read.map(textOf)).to.deep.equal(samples)
    })

    // The number of consecutive U+FFFD may differ: Java writes one for an unpaired surrogate of three bytes, we write
    // three.
    it('that is not UTF-8 as we do: with U+FFFD in the same places', async () => {
      const runsAsOne = (text: string) => text.replace(/\ufffd+/g, '\ufffd')
      const nasty = fc.oneof(
        fc.nat(255),
        fc.constantFrom(0xc0, 0xc2, 0xe0, 0xed, 0xa0, 0x80, 0xbf, 0xf0, 0xf4, 0x90, 0xff),
      )
      const samples = fc
        .sample(fc.array(nasty, { maxLength: 12 }), { numRuns: 5000, seed })
        .map(all => Buffer.from(all))
      const read = await java.requestAll(samples.map(bytes => `string ${bytes.toString('hex')}`))
      read.forEach((units, i) => {
        const bytes = samples[i] ?? Buffer.alloc(0)
        const prefix = Buffer.alloc(4)
        prefix.writeInt32BE(bytes.length)
        const { path } = SyncRequest.decode(Buffer.concat([prefix, bytes]))
        expect(runsAsOne(path), bytes.toString('hex')).to.equal(runsAsOne(textOf(units)))
      })
    })
  })

  describe('validate', () => {
    const parts = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom('/', '//', '.', '..', '...', '/.', '/..', 'a', 'zk', ' ', '', '-', '0000000001'),
      },
      fc.constantFrom('\0', '\u0001', '\u001f', '\u007f', '\u0080', '\u009f', '\u00a0', '\ud7ff', '\ue000'),
      fc.constantFrom('\ud800', '\udbff', '\udc00', '\udfff', '\uf8ff', '\uf900', '\uffef', '\ufff0', '\uffff', '🦓'),
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.nat(0xffff).map(unit => String.fromCharCode(unit)),
    )
    const nasty = fc
      .tuple(fc.constantFrom('/', '/', '/', '/a', ''), fc.array(parts, { maxLength: 6 }))
      .map(([start, rest]) => start + rest.join(''))

    it('thousands of awkward paths as we do', async () => {
      const paths = [
        '',
        '/',
        '.',
        '..',
        '/.',
        '/..',
        '/...',
        '/a/',
        '/a/./b',
        '/a/../b',
        ...fc.sample(nasty, { numRuns: 8000, seed }),
      ]
      for (const kind of ['plain', 'sequential']) {
        const verdicts = await java.requestAll(paths.map(path => `path ${unitsOf(path)} ${kind}`))
        const count = { valid: 0, invalid: 0 }
        verdicts.forEach((verdict, i) => {
          const path = paths[i] ?? ''
          const ours = pathProblem(path, kind === 'sequential') === undefined ? 'valid' : 'invalid'
          expect(ours, `${kind} ${JSON.stringify(path)}`).to.equal(verdict)
          count[ours]++
        })
        expect(Math.min(count.valid, count.invalid), `of each verdict, ${kind}`).to.be.above(1000)
      }
    })

    it('every UTF-16 code unit as we do', async () => {
      const paths = Array.from({ length: 0x10000 }, (_, unit) => '/a' + String.fromCharCode(unit))
      const verdicts = await java.requestAll(paths.map(path => `path ${unitsOf(path)} plain`))
      const differing = paths.filter((path, i) => (pathProblem(path) === undefined) !== (verdicts[i] === 'valid'))
      expect(differing.map(unitsOf)).to.deep.equal([])
    })
  })

  describe('number', () => {
    /** Expects that we have all their names with the same numbers, and that they have all of ours except `extra`. */
    function agree(
      theirs: Record<string, number> | undefined,
      ours: Readonly<Record<string, number>>,
      extra: string[] = [],
    ) {
      expect(Object.keys(theirs ?? {})).to.have.length.above(1)
      expect(ours).to.include(theirs)
      expect(extra).to.include.members(Object.keys(ours).filter(name => !(name in (theirs ?? {}))))
    }

    /**
     * Converts their names to ours: PERSISTENT_WITH_TTL to persistentTTL, PersistentRecursive to persistentRecursive.
     */
    const camelCase = (table: Record<string, number> = {}) =>
      Object.fromEntries(Object.entries(table).map(([name, number]) => [camelCased(name), number]))

    const without = (table: Record<string, number> = {}, ...names: string[]) => {
      expect(table).to.include.keys(names)
      return Object.fromEntries(Object.entries(table).filter(([name]) => !names.includes(name)))
    }

    it('errors as we do', () => agree(without(numbers['Code'], 'OK'), errnos))

    it('operations as we do', () => agree(numbers['OpCode'], opcodes))

    it('permissions as we do', () => agree(camelCase(numbers['Perms']), perms))

    it('create modes as we do', () => agree(camelCase(numbers['CreateMode']), createModes))

    // Java's client creates None when its state changes. The wire has no such event.
    it('watch events as we do', () => agree(without(numbers['EventType'], 'None'), eventTypes))

    // These two are deprecated and never sent.
    it('states of the keeper as we do', () =>
      agree(without(numbers['KeeperState'], 'Unknown', 'NoSyncConnected'), keeperStates))

    it('watcher types as we do, with two more from 3.9 on', () => {
      agree(camelCase(numbers['WatcherType']), watcherTypes, ['persistent', 'persistentRecursive'])
    })

    it('modes of addWatch as we do', () => agree(camelCase(numbers['AddWatchMode']), addWatchModes))
  })
})

const camelCased = (name: string) =>
  (/[a-z]/.test(name) ? name : name.replace('_WITH', '').toLowerCase())
    .replace(/^./, first => first.toLowerCase())
    .replace(/_ttl$/, 'TTL')
    .replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

type Item = TypeOf<typeof MultiRequest>[number]

function withFittingMode(item: Item): Item {
  switch (item.type) {
    case opcodes.create:
      return { type: item.type, body: { ...withACL(item.body), flags: item.body.flags & 3 } }
    case opcodes.createContainer:
      return { type: item.type, body: { ...withACL(item.body), flags: createModes.container } }
    case opcodes.createTTL: {
      const flags = createModes.persistentTTL + (item.body.flags & 1)
      return { type: item.type, body: { ...withACL(item.body), flags } }
    }
    default:
      return item
  }
}

/** Since ZOOKEEPER-4026, a create in a multi must have an ACL. */
const withACL = <T extends { acl: unknown[] | null }>(body: T): T => ({ ...body, acl: body.acl ?? [] })

/** Returns the layout in the form that JuteEcho uses. */
function layoutOf({ layout }: Codec<unknown>): Tagged {
  if (layout.is !== 'fields') throw new Error('not a record of fields')
  return layout.fields.map(({ name, type }) => [name, kindOf(type)])
}

function kindOf(type: Type): TaggedValue {
  switch (type.is) {
    case 'time':
      return 'long'
    case 'stringOrNull':
    case 'stringOrEmpty':
      return 'string'
    case 'strings':
      return { vector: ['string'] }
    case 'vector':
    case 'vectorOrNull':
      return { vector: [layoutOf(type.of)] }
    case 'record':
      return layoutOf(type.of)
    default:
      return type.is
  }
}

const nullable = (codec: Codec<unknown>) => fieldsOfType(codec, ['stringOrNull', 'vectorOrNull'])
const timesOf = (codec: Codec<unknown>) => fieldsOfType(codec, ['time'])

/**
 * Returns the names of all fields of these types, including nested ones. For a multi, includes the fields of all items.
 */
function fieldsOfType(codec: Codec<unknown>, kinds: readonly Type['is'][]): string {
  const names = new Set<string>()
  const visit = ({ layout }: Codec<unknown>) => {
    if (layout.is === 'tagged') {
      for (const opcode of Object.values(opcodes)) {
        const item = layout.itemFor(opcode)
        if (item) visit(item)
      }
      return
    }
    for (const { name, type } of layout.fields) {
      if (kinds.includes(type.is)) names.add(name)
      if ('of' in type) visit(type.of)
    }
  }
  visit(codec)
  return [...names].join(',') || '-'
}

const unitsOf = (text: string) =>
  Array.from({ length: text.length }, (_, i) => text.charCodeAt(i).toString(16).padStart(4, '0')).join('')

const textOf = (units: string) =>
  (units.match(/.{4}/g) ?? []).map(unit => String.fromCharCode(parseInt(unit, 16))).join('')

const show = (value: unknown) => JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? String(v) : v))
