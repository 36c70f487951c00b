import { expect } from 'chai'
import fc from 'fast-check'
import type { WatchKind } from '../../../src/protocol/index.ts'
import { batches } from '../../../src/session/watches/set-watches.ts'
import { tableOf, OneShotWatches, type Watch } from '../../../src/session/watches/one-shot-watches.ts'

const watchOn = (serverPath: string, view?: object): Watch => ({
  callback: () => undefined,
  path: serverPath,
  serverPath,
  signal: undefined,
  view,
})

const kinds: WatchKind[] = ['data', 'exist', 'children']
const kind = fc.constantFrom(...kinds)
const path = fc.constantFrom('/a', '/b', '/a/b', '/__proto__')

const views = [{}, {}]

/** The kinds of watches that each event type fires. */
const firedBy: Record<number, WatchKind[]> = {
  1: ['exist', 'data'],
  2: ['data', 'children'],
  3: ['data', 'exist'],
  4: ['children'],
}

describe('the registry of one-shot watches', () => {
  it('behaves like a plain list for any sequence of operations', () => {
    const step = fc.record({
      do: fc.constantFrom('arm', 'disarm', 'fire', 'expect'),
      kind,
      path,
      type: fc.constantFrom(1, 2, 3, 4, 77),
      at: fc.nat(),
      view: fc.constantFrom(undefined, ...views),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), script => {
        const registry = new OneShotWatches()
        let model: { kind: WatchKind; watch: Watch }[] = []
        for (const { do: what, kind, path, type, at, view } of script) {
          if (what === 'arm') {
            const watch = watchOn(path, view)
            registry.arm(kind, watch)
            model.push({ kind, watch })
          } else if (what === 'disarm' && model.length > 0) {
            const [dropped] = model.splice(at % model.length, 1) as [(typeof model)[number]]
            expect(registry.disarm(dropped.watch)).to.equal(tableOf(dropped.kind))
            expect(registry.disarm(dropped.watch)).to.equal(undefined)
          } else if (what === 'fire') {
            const isFired = (each: (typeof model)[number]) =>
              each.watch.serverPath === path && firedBy[type]?.includes(each.kind) === true
            const expected = type in firedBy ? model.filter(isFired).map(({ watch }) => watch) : undefined
            const fired = registry.fire(type, path)?.watches
            if (expected === undefined) expect(fired).to.equal(undefined)
            else expect(fired).to.have.members(expected)
            model = model.filter(each => !isFired(each))
          }
          expect(registry.all()).to.have.members(model.map(({ watch }) => watch))
          for (const view of views)
            expect(registry.ofView(view)).to.deep.equal(
              model.map(({ watch }) => watch).filter(watch => watch.view === view),
            )
          for (const table of ['data', 'children'] as const) {
            const on = model.filter(each => tableOf(each.kind) === table && each.watch.serverPath === path)
            expect(registry.isUnused(table, path)).to.equal(on.length === 0)
            expect(registry.on(path, [table])).to.have.members(on.map(({ watch }) => watch))
          }
          for (const kind of kinds)
            expect(new Set(registry.paths()[kind])).to.deep.equal(
              new Set(model.filter(each => each.kind === kind).map(({ watch }) => watch.serverPath)),
            )
        }
      }),
    )
  })

  it('is empty as soon as no watch is armed or in flight, and names each deferred removal once, for any sequence', () => {
    const step = fc.record({
      do: fc.constantFrom('request', 'arm', 'fail', 'disarm', 'fire', 'defer', 'take'),
      kind,
      path,
      type: fc.constantFrom(1, 2, 3, 4),
      at: fc.nat(),
      view: fc.constantFrom(undefined, ...views),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 30, maxLength: 60 }), script => {
        const registry = new OneShotWatches()
        type Known = { kind: WatchKind; watch: Watch; isArmed: boolean }
        let model: Known[] = []
        const deferred = new Set<string>()
        const keyOf = ({ kind, watch }: Known) => `${tableOf(kind)} ${watch.serverPath}`
        const pendingAt = (key: string) => model.some(each => !each.isArmed && keyOf(each) === key)
        /** As a caller does when a request has ended that has set no watch. */
        const expectDeferred = (each: Known) => {
          if (pendingAt(keyOf(each))) return
          const isDue = deferred.delete(keyOf(each))
          expect(registry.takeDeferred(tableOf(each.kind), each.watch.serverPath)).to.equal(isDue)
        }
        for (const { do: what, kind, path, type, at, view } of script) {
          const [table, key] = [tableOf(kind), `${tableOf(kind)} ${path}`]
          const some = (isArmed: boolean) => {
            const all = model.filter(each => each.isArmed === isArmed)
            return all[at % all.length]
          }
          if (what === 'request') {
            const watch = watchOn(path, view)
            registry.addPending(table, watch)
            model.push({ kind, watch, isArmed: false })
          } else if (what === 'arm' || what === 'fail') {
            const chosen = some(false)
            if (chosen === undefined) continue
            if (what === 'arm') {
              registry.arm(chosen.kind, chosen.watch)
              chosen.isArmed = true
              deferred.delete(keyOf(chosen))
            } else {
              registry.removePending(tableOf(chosen.kind), chosen.watch)
              model = model.filter(each => each !== chosen)
              expectDeferred(chosen)
            }
          } else if (what === 'disarm') {
            const chosen = some(true)
            if (chosen !== undefined) registry.disarm(chosen.watch)
            model = model.filter(each => each !== chosen)
          } else if (what === 'fire') {
            registry.fire(type, path)
            const isFired = (each: Known) =>
              each.isArmed && each.watch.serverPath === path && firedBy[type]?.includes(each.kind) === true
            model = model.filter(each => !isFired(each))
          } else if (what === 'defer') {
            registry.deferRemoval(table, path)
            if (pendingAt(key)) deferred.add(key)
          } else {
            const isTaken = (each: Known) => keyOf(each) === key && each.watch.view === view
            const taken = model.some(isTaken)
            expect(registry.take(table, path, view)).to.equal(taken)
            model = model.filter(each => !isTaken(each))
            if (taken && pendingAt(key)) deferred.add(key)
            else if (taken) deferred.delete(key)
          }
          expect(registry.isEmpty, what).to.equal(model.length === 0)
        }
        for (const each of model.splice(0)) {
          if (each.isArmed) registry.disarm(each.watch)
          else {
            registry.removePending(tableOf(each.kind), each.watch)
            registry.takeDeferred(tableOf(each.kind), each.watch.serverPath)
          }
        }
        expect(registry.isEmpty, 'at the end').to.equal(true)
      }),
    )
  })

  it('knows the watches of calls in flight by table and path', () => {
    const registry = new OneShotWatches()
    const [first, second] = [watchOn('/a'), watchOn('/a')]
    registry.addPending('data', first)
    registry.addPending('data', second)
    registry.removePending('data', first)
    expect(registry.isUnused('data', '/a')).to.equal(false)
    expect(registry.isUnused('children', '/a')).to.equal(true)
    expect(registry.isUnused('data', '/b')).to.equal(true)
    registry.arm('exist', second)
    expect(registry.isPending('data', second)).to.equal(false)
    registry.disarm(second)
    expect(registry.isUnused('data', '/a')).to.equal(true)
    expect(registry.isEmpty).to.equal(true)
  })

  it('takes the armed and pending watches of one view on a path in one table', () => {
    const [view, other] = views
    const registry = new OneShotWatches()
    const pending = [view, view, other].map(each => watchOn('/a', each))
    const elsewhere = watchOn('/b', view)
    for (const watch of [...pending, elsewhere]) registry.addPending('data', watch)
    for (const each of [view, other]) registry.arm('data', watchOn('/a', each))
    registry.arm('children', watchOn('/a', view))
    expect(registry.take('data', '/a', view)).to.equal(true)
    expect(pending.map(watch => registry.isPending('data', watch))).to.deep.equal([false, false, true])
    expect(registry.isPending('data', elsewhere)).to.equal(true)
    expect(registry.on('/a', ['data']).map(watch => watch.view === other)).to.deep.equal([true])
    expect(registry.on('/a', ['children'])).to.have.length(1)
    expect(registry.take('data', '/a', view)).to.equal(false)
    expect(registry.take('data', '/a', other)).to.equal(true)
    expect(registry.isUnused('data', '/a')).to.equal(true)
  })
})

describe('batches of watches to set again', () => {
  const paths = fc.array(
    fc.integer({ min: 1, max: 60_000 }).map(length => '/'.padEnd(length, 'ü')),
    { maxLength: 20 },
  )

  it('contain each path once, in order, in as few requests as the limit of 128 KiB allows', () => {
    fc.assert(
      fc.property(fc.record({ data: paths, exist: paths, children: paths }), all => {
        const made = batches(all)
        for (const kind of kinds) expect(made.flatMap(batch => batch[kind])).to.deep.equal(all[kind])
        const sizes = made.map(batch =>
          kinds.flatMap(kind => batch[kind]).reduce((sum, path) => sum + 4 + Buffer.byteLength(path), 0),
        )
        for (const [i, size] of sizes.entries()) {
          expect(size).to.be.above(0)
          expect(size).to.be.at.most(128 * 1024)
          if (i > 0) expect(size + (sizes[i - 1] as number)).to.be.above(128 * 1024)
        }
      }),
    )
  })

  it('are empty if there is no watch', () => {
    expect(batches({ data: [], exist: [], children: [] })).to.deep.equal([])
  })

  it('contain a path that exceeds the limit in a separate request', () => {
    const long = '/'.padEnd(200_000, 'a')
    const made = batches({ data: ['/a', long], exist: ['/b'], children: [] })
    expect(made.map(({ data, exist }) => [data.length, exist.length])).to.deep.equal([
      [1, 0],
      [1, 0],
      [0, 1],
    ])
  })
})

describe('the removal of a watch while other calls may set it', () => {
  it('is deferred until those calls have ended without setting it', () => {
    const registry = new OneShotWatches()
    const [first, second] = [watchOn('/a'), watchOn('/a')]
    registry.addPending('data', first)
    registry.addPending('data', second)
    registry.deferRemoval('data', '/a')
    registry.removePending('data', first)
    expect(registry.takeDeferred('data', '/a')).to.equal(false)
    registry.removePending('data', second)
    expect(registry.takeDeferred('data', '/a')).to.equal(true)
    expect(registry.takeDeferred('data', '/a')).to.equal(false)
  })
})
