// Finds what a long life keeps: the sets, maps and arrays that grow with each repetition of some work, and the listeners.
import { getEventListeners } from 'node:events'

type Collection = Set<unknown> | Map<unknown, unknown> | unknown[]

const sizeOf = (all: Collection): number => (Array.isArray(all) ? all.length : all.size)

/**
 * Repeats work, and returns the places in src at which it adds to a collection again and again, and removes nothing.
 * Collections with private names count too, because their methods are watched and not the objects that have them.
 * @param signals live as long as the work is repeated. If their listeners become more, that is returned too
 */
export async function grownBy(
  times: number,
  work: (nth: number) => Promise<unknown>,
  signals: readonly AbortSignal[] = [],
): Promise<string[]> {
  const listeners = () => signals.reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0)
  let listenersAtFirst = 0
  const before = new WeakMap<Collection, number>()
  const grown = new Map<Collection, string>()
  const add = Reflect.get(Set.prototype, 'add') as (this: Set<unknown>, value: unknown) => void
  const set = Reflect.get(Map.prototype, 'set') as (this: Map<unknown, unknown>, key: unknown, value: unknown) => void
  const push = Reflect.get(Array.prototype, 'push') as (this: unknown[], ...values: unknown[]) => number
  // The stack is made by code that has collections of its own.
  let isNoting = false
  const note = (all: Collection, size: number) => {
    if (isNoting) return
    const first = before.get(all)
    if (first === undefined) return void before.set(all, size)
    if (sizeOf(all) - first !== times) return
    isNoting = true
    set.call(grown, all, placeIn(new Error('grown').stack))
    isNoting = false
  }
  Set.prototype.add = function (value) {
    const { size } = this
    add.call(this, value)
    note(this, size)
    return this
  }
  Map.prototype.set = function (key, value) {
    const { size } = this
    set.call(this, key, value)
    note(this, size)
    return this
  }
  Array.prototype.push = function (...values) {
    const { length } = this
    const pushed = push.apply(this, values)
    note(this, length)
    return pushed
  }
  try {
    for (let nth = 0; nth <= times; nth++) {
      await work(nth)
      if (nth === 0) listenersAtFirst = listeners()
    }
  } finally {
    Object.assign(Set.prototype, { add })
    Object.assign(Map.prototype, { set })
    Object.assign(Array.prototype, { push })
  }
  const kept = [...grown].filter(([all]) => sizeOf(all) - (before.get(all) ?? 0) >= times)
  const places = [...new Set(kept.map(([, place]) => place))].filter(place => place !== '')
  const added = listeners() - listenersAtFirst
  return added > 0 ? [...places, `${added} listeners on signals`] : places
}

/**
 * Returns the files of the stack in src, the innermost first. Empty if none, if the tree of the server grows, or if the
 * innermost file is not in src: what a listener collects is not kept by this project. Other tests of this process leave
 * subscribers of the diagnostics channels.
 */
function placeIn(stack = ''): string {
  const files = [...stack.matchAll(/(?:file:\/\/|[( ])(\/\S+):\d+:\d+/g)].map(([, file = '']) => file)
  const [, innermost = '', ...others] = [...new Set(files)]
  const places = [innermost, ...others].flatMap(file => /\/(src\/.+)/.exec(file)?.[1] ?? [])
  const isCounted = /\/src\//.test(innermost) && !/database\/(tree|children|java-hash)|virtual-clock/.test(innermost)
  return isCounted ? places.slice(0, 3).join(' < ') : ''
}
