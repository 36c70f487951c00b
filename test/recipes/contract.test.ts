// What docs/recipes.md says of every recipe. The names of the recipes and their calls come from the public declarations,
// so that none is forgotten. signals.test.ts has the rest: the signal and the timeout of each call.
import { expect } from 'chai'
import { readDocument } from '../support/document.ts'
import { declaredCalls, type DeclaredCall } from '../support/public-names.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { failureOf } from '../support/settled.ts'
import { turns } from '../support/turns.ts'
import { end, Stage, type Scene } from './public-calls.ts'
import {
  followed,
  giving,
  held,
  outlivingSessions,
  required,
  running,
  taking,
  watchingOnlyForReaders,
  type Closing,
  type Following,
} from './public-objects.ts'

/** Ends an object by its verb, or as `await using` does. */
const ends: Readonly<Record<string, (object: AsyncDisposable) => Promise<unknown>>> = {
  'its verb': end,
  'await using': object => Promise.resolve(object[Symbol.asyncDispose]()),
}

/** Runs a test in virtual time. At its end, the client must have no watch, no node and no timer. */
async function onStage(run: (scene: Scene, stage: Stage) => Promise<void>, reports: unknown[] = []): Promise<void> {
  const stage = await Stage.open({ onUncaughtError: error => reports.push(error) })
  await stage.clock.until(run(stage.scene, stage))
  await stage.close()
}

const objectWith = async (name: string, scene: Scene) => (await running[name]?.(scene)) as Closing & Following

describe('every recipe', () => {
  let calls: readonly DeclaredCall[]
  /** The names of the declared methods of a class or interface. */
  const methodsOf = (name: string) =>
    calls.flatMap(call => (call.name.startsWith(`${name}.`) ? [call.name.slice(name.length + 1)] : []))
  /** The classes and interfaces that have such a method. */
  const having = (...methods: string[]) =>
    [...new Set(calls.map(({ name }) => /^\w+(?=\.)/.exec(name)?.[0] ?? ''))].filter(name =>
      methods.some(method => methodsOf(name).includes(method)),
    )
  const isWait = ({ returnType }: DeclaredCall) => returnType.startsWith('Promise<')

  before(function () {
    this.timeout(60_000)
    calls = declaredCalls(['src/recipes/index.ts'])
  })

  it('takes the client in its constructor, or in start() and nowhere else', () => {
    const classes = calls.flatMap(({ name }) => (name.startsWith('new ') ? [name.slice(4)] : []))
    const takesClient = (name: string) => calls.some(call => call.name === name && call.parameters[0] === 'Client')
    // The locks of a MultiLock have clients.
    const recipes = classes.filter(name => !['RecipeError', 'MultiLock'].includes(name))
    expect(recipes.length).to.be.above(15)
    for (const name of recipes) expect([`new ${name}`, `${name}.start`].filter(takesClient), name).to.have.length(1)
    const others = calls.filter(({ name }) => !/^new |\.start$|^revoke$/.test(name))
    expect(others.filter(({ parameters }) => parameters.includes('Client'))).to.deep.equal([])
  })

  it('ends by close() if it runs, by release() if it is held, and by no other verb', () => {
    expect(Object.keys(running)).to.have.members(having('close'))
    expect(Object.keys(held)).to.have.members(having('release'))
    const others = ['cancel', 'destroy', 'dispose', 'end', 'leave', 'stop', 'unregister']
    expect(having(...others)).to.deep.equal(['DoubleBarrier'])
  })

  it('tells changes by on(), off() and changes(), and by no other way', () => {
    for (const method of ['on', 'off', 'changes']) expect(Object.keys(followed), method).to.have.members(having(method))
    expect(having('once', 'watch', 'subscribe', 'addListener')).to.deep.equal([])
    expect(calls.filter(({ options }) => options.has('onChange'))).to.deep.equal([])
  })

  it('takes a signal and a timeout wherever it waits, unless the signal is the only end, or the call must reach its end', () => {
    const waits = calls.filter(isWait)
    const without = (option: string) => waits.flatMap(({ name, options }) => (options.has(option) ? [] : [name]))
    const mustEnd = [
      ...Object.keys(running).map(name => `${name}.close`),
      ...Object.keys(held).map(name => `${name}.release`),
    ]
    const untilTheirEnd = ['Iteration.return', 'QueueItem.complete', 'ReadHeld.upgrade', 'WriteHeld.downgrade']
    const ends = [...mustEnd.filter(name => name !== 'Lease.release'), ...untilTheirEnd]
    expect(without('signal')).to.have.members(ends)
    const runUntilAborted = ['LeaderElection.lead', 'Partitioner.run', 'Queue.consume']
    expect(without('timeout')).to.have.members([...ends, ...runUntilAborted])
  })

  it('is in the tables of docs/recipes.md by the verb of its end', () => {
    const rows = [...readDocument('docs/recipes.md').matchAll(/^\| `(release|close)\(\)` \| ([^|]*) \|/gm)]
    const named = new Map(
      rows.map(([, verb, cell = '']) => [verb, [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name)]),
    )
    expect(named.get('close')).to.have.members(having('close'))
    expect(named.get('release')).to.have.members(having('release').filter(name => !/.Held$/.test(name)))
  })

  for (const [name, { change, show, told }] of Object.entries(followed)) {
    it(`${name} begins a loop with the present, and tells a listener only what comes after it, once`, () =>
      onStage(async scene => {
        const object = await objectWith(name, scene)
        const heard: string[] = []
        const listener = (each: unknown) => heard.push(show(each as never))
        object.on('change', listener)
        object.on('change', listener)
        const loop = object.changes()
        const next = async () => show((await loop.next()).value as never)
        expect(await next()).to.equal(told[0])
        await turns()
        expect(heard).to.deep.equal([])
        await change(scene, 1)
        expect(await next()).to.equal(told[1])
        await turns()
        expect(heard).to.deep.equal([told[1]])
        object.off('change', listener)
        await change(scene, 2)
        expect(await next()).to.equal(told[2])
        await turns()
        expect(heard).to.deep.equal([told[1]])
        await object.close()
      }))

    it(`${name} refuses an event other than \`change\`, and a listener that is no function`, () =>
      onStage(async scene => {
        const object = await objectWith(name, scene)
        for (const op of ['on', 'off'] as const) {
          const calling = (event: string, listener: unknown) => () =>
            object[op](event as 'change', listener as () => void)
          for (const [call, detail] of [
            [calling('changed', () => undefined), "no event 'changed'"],
            [calling('change', 5), 'listener must be a function'],
          ] as const)
            expect(call).to.throw(detail).with.property('code', 'BADARGUMENTS')
        }
        await object.close()
      }))

    it(`${name} ends a loop with the reason of its signal, and tells nothing that the loop has not read`, () =>
      onStage(async (scene, stage) => {
        const object = await objectWith(name, scene)
        const { signal, abort } = abortable()
        const loop = object.changes({ signal })
        await loop.next()
        await change(scene, 1)
        await turns()
        abort()
        expect(await failureOf(loop.next())).to.equal(signal.reason)
        expect(await loop.next()).to.deep.equal({ value: undefined, done: true })
        expect(await failureOf(object.changes({ signal }).next())).to.equal(signal.reason)
        for await (const _ of object.changes()) break
        await scene.client.settled()
        await turns()
        if (watchingOnlyForReaders.includes(name)) expect(stage.owned.watches).to.deep.equal([])
        await object.close()
      }))

    it(`${name} ends a loop with the error of the session, unless it goes on in the next one`, async () => {
      const reports: unknown[] = []
      await onStage(async (scene, { server }) => {
        const object = await objectWith(name, scene)
        object.on('change', () => undefined)
        const loop = object.changes()
        await loop.next()
        const next = loop.next().catch((error: unknown) => error)
        // While the session is connected, the server first reports that its nodes are deleted.
        server.dropConnections()
        server.expireSession(scene.client.sessionId)
        await scene.client.whenConnected().catch(() => undefined)
        await turns()
        if (outlivingSessions.includes(name)) await object.close()
        const ended = outlivingSessions.includes(name) ? { done: true } : { code: 'SESSIONEXPIRED' }
        expect(await next).to.include(ended)
      }, reports)
      expect(reports).to.deep.equal([])
    })

    it(`${name} passes what a listener throws to onUncaughtError, and calls it again`, async () => {
      const reports: unknown[] = []
      const error = new Error('mine')
      await onStage(async scene => {
        const object = await objectWith(name, scene)
        object.on('change', () => {
          throw error
        })
        object.on('change', () => Promise.reject(error))
        await turns()
        for (const nth of [1, 2]) {
          await change(scene, nth)
          await turns()
          expect(reports).to.deep.equal(Array.from({ length: 2 * nth }, () => error))
        }
        await object.close()
      }, reports)
    })
  }

  for (const [name, { change }] of Object.entries(followed))
    it(`${name} tells a listener nothing after close(), whenever in the handling of an event that is called`, async () => {
      const told: number[] = []
      for (let moment = 0; moment <= 30; moment++) {
        let faultyDial!: FaultyDial
        const stage = await Stage.open({}, dial => (faultyDial = new FaultyDial(dial)).dial)
        const run = async () => {
          const object = await objectWith(name, stage.scene)
          const heard: unknown[] = []
          object.on('change', each => heard.push(each))
          await turns()
          const arrived = faultyDial.holdEvent()
          await change(stage.scene, 1)
          await arrived
          faultyDial.deliver()
          for (let i = 0; i < moment; i++) await Promise.resolve()
          const closed = object.close()
          const before = heard.length
          await closed
          await turns()
          expect(heard.length, `after ${moment} microtasks`).to.equal(before)
          told.push(before)
        }
        await stage.clock.until(run())
        await stage.close()
      }
      expect([told.at(0), told.at(-1)]).to.deep.equal([0, 1])
    })

  for (const [how, close] of Object.entries(ends)) {
    for (const name of Object.keys(running))
      it(`${name} stays closed after ${how}`, () =>
        onStage(async scene => {
          const object = await objectWith(name, scene)
          const follows = name in followed
          const loop = follows ? object.changes() : undefined
          await loop?.next()
          const heard: unknown[] = []
          if (follows) object.on('change', change => heard.push(change))
          await turns()
          await close(object)
          await close(object)
          expect((await loop?.next())?.done ?? true).to.equal(true)
          const toServer = calls.filter(call => call.name.startsWith(`${name}.`) && call.options.has('signal'))
          for (const call of toServer) {
            const method = call.name.slice(name.length + 1)
            const invoke = (object as unknown as Record<string, (...given: unknown[]) => unknown>)[method]
            const result = invoke?.apply(object, required[call.name]?.(scene) ?? [])
            if (method === 'changes') expect((await (result as AsyncIterator<unknown>).next()).done).to.equal(true)
            else expect(await failureOf(result as Promise<unknown>), call.name).to.have.property('code', 'CLOSED')
          }
          if (follows) object.on('change', change => heard.push(change))
          await followed[name]?.change(scene, 1)
          await turns()
          expect(heard).to.deep.equal([])
        }))

    for (const [name, { hold, take }] of Object.entries(held))
      it(`${name} is free after ${how}, which may be repeated`, () =>
        onStage(async scene => {
          const object = await hold(scene)
          expect(await take(scene)).to.equal(null)
          await close(object)
          await close(object)
          expect(await take(scene)).to.not.equal(null)
        }))
  }

  it('that takes data is tested here', () => {
    const isData = (type: string) => /\bData\b|\bIn\b(?!>)|NotInferred<In>/.test(type)
    const takesData = ({ parameters, options }: DeclaredCall) =>
      [...parameters, ...['data', 'initial'].map(name => options.get(name) ?? '')].some(isData)
    expect(Object.keys(taking)).to.have.members(calls.filter(takesData).map(({ name }) => name))
  })

  for (const [name, prepare] of Object.entries(giving))
    it(`gives bytes of ${name} that the caller may change`, () =>
      onStage(async scene => {
        const read = await prepare(scene)
        for (let i = 0; i < 2; i++) {
          const bytes = await read()
          expect(String(bytes)).to.equal('ours')
          bytes?.fill('X')
        }
      }))

  for (const [name, prepare] of Object.entries(taking))
    it(`copies the bytes that ${name} is given`, () =>
      onStage(async (scene, { server }) => {
        const bytes = Buffer.from('ours')
        const call = await prepare(scene)
        const calling = call(bytes)
        bytes.fill('X')
        await calling
        const written = [...server.snapshot().nodes.values()].map(({ data }) => String(data))
        expect(written).to.include('ours').and.not.include('XXXX')
      }))
})

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) }
}
