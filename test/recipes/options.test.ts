// The options of the recipes: each wrong one is refused before a request is sent, and the object with the options stays
// the caller's. The list of constructors is compared with the public declarations here, that of calls in signals.test.ts.
import { expect } from 'chai'
import { inspect } from 'node:util'
import { openACL, ZooKeeperError } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { declaredCalls } from '../support/public-names.ts'
import { onRequest } from '../support/sent-opcodes.ts'
import { outcomeOf } from '../support/settled.ts'
import { constructions } from './constructions.ts'
import { turns } from '../support/turns.ts'
import { end, publicCalls, Stage } from './public-calls.ts'

/** Values that the options of each name must not have. */
const wrongValues: Readonly<Record<string, readonly unknown[]>> = {
  signal: [null, 5, 'x', {}, new AbortController()],
  timeout: [null, NaN, -1, '5', {}, 5n, true],
  acl: [null, 5, 'x', {}, [], [5], [{ perms: 31 }], openACL[0]],
  id: [null, 5, {}, true],
  data: [5, {}, true, ['x']],
  count: [null, 0, -1, 1.5, NaN, Infinity, '1', {}],
  duration: [null, NaN, -1, 0, 999, 1e15, Infinity, '5', 5000n],
  initial: [{}, true, ['x'], () => 0],
  format: [null, 5, 'int', 'toString'],
  mode: [null, 5, 'x', 'toString'],
  ttl: [null, 0, -1, 1.5, NaN, 2 ** 40, '5', Infinity],
  takeOver: [null, 1, 'x'],
  observer: [null, 1, 'x'],
  dialect: [null, 5, 'x', 'toString', {}],
  onForeignContenders: [null, 5, 'x', {}],
  lookAhead: [null, 1, 'x'],
  herd: [null, 1, 'x'],
  byContext: [null, 1, 'x'],
  watchOwnNode: [null, 1, 'x'],
  onQueued: [null, 5, 'x', {}],
  permits: [null, 0, -1, 1.5, NaN, Infinity, '1', 2],
  priority: [null, -1, 1000, 1.5, NaN, '5', 5n],
  concurrency: [null, 0, -1, 1.5, NaN, Infinity, '1'],
  strategy: [null, 5, 'x', 'toString'],
  errorThreshold: [null, 0, -1, 1.5, NaN, Infinity, '1'],
  downTime: [null, -1, NaN, '5', 5n],
  onInvalidInstance: [null, 5, 'x', {}],
  onInvalidItem: [null, 5, 'x', {}],
  codec: [null, 5, 'x', {}, { encode: String }, { '~standard': {} }, () => 'x'],
  payload: [null, 5, 'x', {}, { encode: String, decode: String }, { '~standard': {} }],
}

/** Reports what is read from an object after a moment, and what is written to it at any time. */
function watched(options: object): { proxy: never; misuse: string[]; endReads: () => void } {
  const misuse: string[] = []
  let mayRead = true
  const written = (_: object, name: string | symbol) => misuse.push(`${String(name)} is written`) > 0
  const proxy = new Proxy(options, {
    get(target, name) {
      if (!mayRead) misuse.push(`${String(name)} is read later`)
      return Reflect.get(target, name) as unknown
    },
    set: written,
    defineProperty: written,
    deleteProperty: written,
  })
  return { proxy: proxy as never, misuse, endReads: () => (mayRead = false) }
}

/** Opens a stage that counts the requests of its client, without pings. */
async function counted(): Promise<{ stage: Stage; requests: () => number }> {
  let count = 0
  const onFrame = onRequest('any', ({ opcode }) => {
    if (opcode !== opcodes.ping) count++
  })
  return { stage: await Stage.open({ onFrame }), requests: () => count }
}

function thrownBy(fn: () => unknown): unknown {
  try {
    return void fn()
  } catch (error) {
    return error
  }
}

function expectRefused(error: unknown, op: string | undefined, name: string, value: unknown): void {
  const shown = `${name}: ${inspect(value)}`
  expect(error, shown).to.be.instanceOf(ZooKeeperError).that.includes({ code: 'BADARGUMENTS', op, fate: 'notSent' })
  expect((error as Error).message, shown).to.include(name)
}

describe('the options', () => {
  /** Runs a test with a count of the requests that the client has sent. */
  async function onStage(run: (stage: Stage, requests: () => number) => Promise<void>): Promise<void> {
    const { stage, requests } = await counted()
    await stage.clock.until(run(stage, requests))
    await stage.close()
  }

  it('of each constructor that has some are tested here', () => {
    const declared = declaredCalls(['src/recipes/index.ts']).flatMap(({ name, parameters }) =>
      /^new /.test(name) && parameters.some(each => /^\w+Options(<.*>)?$/.test(each)) ? [name.slice(4)] : [],
    )
    // Those of a Cache are in cache.test.ts. It reads at once.
    expect(Object.keys(constructions).filter(name => !name.includes(' '))).to.have.members(
      declared.filter(name => !['Cache', 'RecipeError'].includes(name)),
    )
  }).timeout(60_000)

  for (const [name, { options, make, use }] of Object.entries(constructions)) {
    it(`of ${name} are refused by name if one is wrong or misspelt, and nothing is sent`, () =>
      onStage(async ({ scene }, requests) => {
        const before = requests()
        const op = name.split(' ')[0]
        for (const value of [null, 5, 'kazoo', [], () => undefined] as never[])
          expectRefused(
            thrownBy(() => make(scene.client, value)),
            op,
            'options',
            value,
          )
        for (const option of Object.keys(options)) {
          const wrong = wrongValues[option] ?? expect.fail(`no wrong values of ${option}`)
          // A value of SharedValue may be null, and a number of Counter a bigint.
          for (const value of wrong) {
            expectRefused(
              thrownBy(() => make(scene.client, { ...options, [option]: value } as never)),
              op,
              option,
              value,
            )
          }
          const error = thrownBy(() => make(scene.client, { ...options, [`${option}x`]: 1 } as never))
          expectRefused(error, op, `${option}x`, 1)
          expect((error as Error).message).to.include(`did you mean '${option}'`)
        }
        await turns()
        expect(requests()).to.equal(before)
      }))

    it(`of ${name} are read by the constructor only, and never written`, () =>
      onStage(async ({ scene }) => {
        const { proxy, misuse, endReads } = watched(options)
        const object = make(scene.client, proxy)
        endReads()
        await use(object as never, scene.client)
        expect(misuse).to.deep.equal([])
      }))

    const optional = Object.keys(options).filter(
      option => !(name.startsWith('Lease') && ['id', 'duration'].includes(option)),
    )
    it(`of ${name} count as absent if they are undefined`, () =>
      onStage(async ({ scene }) => {
        const absent = Object.fromEntries(optional.map(option => [option, undefined]))
        const required = name.startsWith('Lease') ? { id: 'me', duration: 60_000 } : {}
        await use(make(scene.client, { ...required, ...absent } as never) as never, scene.client)
      }))
  }
})

describe('the options', () => {
  for (const [name, { before, call, finish, hasNoTimeout, runsUntilAborted }] of Object.entries(publicCalls)) {
    const takesHold =
      /^(MultiLock|Mutex|HerdMutex|TicketMutex|EphemeralMutex|ReentrantMutex|Semaphore|Lock)\.(acquire|tryAcquire|use)/
    /** All options with valid values. */
    const valid = {
      signal: new AbortController().signal,
      ...(!hasNoTimeout && { timeout: 60_000 }),
      ...(takesHold.test(name) && { watchOwnNode: true, onQueued: () => undefined }),
      ...(/^Semaphore\.(acquire|tryAcquire|use)/.test(name) && { permits: 1 }),
      ...(/^Queue\.put/.test(name) && { priority: 5 }),
      ...(name === 'Services.provider' && {
        ...{ strategy: 'random', errorThreshold: 2, downTime: 5, onInvalidInstance: () => undefined },
      }),
    }

    it(`of ${name} are refused by name if one is wrong or misspelt, and nothing is sent`, async () => {
      const { stage, requests } = await counted()
      const run = async () => {
        await before?.(stage.scene)
        await turns()
        const sent = requests()
        const op = /(\w+)( |$)/.exec(name.replace(/^new /, ''))?.[1]
        const calling = (options: object) => Promise.resolve().then(() => call(stage.scene, options))
        for (const option of Object.keys(valid)) {
          for (const value of wrongValues[option] ?? [])
            expectRefused(await outcomeOf(calling({ [option]: value })), op, option, value)
          // The calls without a timeout are given the signal alone.
          if (!hasNoTimeout) expectRefused(await outcomeOf(calling({ [`${option}x`]: 1 })), op, `${option}x`, 1)
        }
        if (!hasNoTimeout)
          for (const value of [null, 5, 'x'])
            expectRefused(await outcomeOf(calling(value as never)), op, 'options', value)
        await turns()
        // A cache begins to read in its constructor.
        if (!name.startsWith('Cache')) expect(requests()).to.equal(sent)
        // The other member waits for this one.
        const ended = name.startsWith('DoubleBarrier') ? call(stage.scene, {}) : undefined
        await finish?.(stage.scene)
        await ended
      }
      await stage.clock.until(run())
      await stage.close()
    })

    if (hasNoTimeout || runsUntilAborted) continue
    it(`of ${name} are read at the call only, and never written`, async () => {
      const stage = await Stage.open()
      const run = async () => {
        await before?.(stage.scene)
        const { proxy, misuse, endReads } = watched(valid)
        const calling = call(stage.scene, proxy)
        endReads()
        await turns()
        const ended = calling.then(end)
        await finish?.(stage.scene)
        await ended
        expect(misuse).to.deep.equal([])
      }
      await stage.clock.until(run())
      await stage.close()
    })
  }
})
