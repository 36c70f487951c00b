// Uses two copies of the package in one process: the ES modules by import, the CommonJS modules by require. Runs in a
// user's folder, and prints for each check the error, or null if there was none.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import * as zkwire from '../../src/index.ts'
import * as protocol from '../../src/protocol/entry.ts'
import * as recipes from '../../src/recipes/index.ts'
import * as sasl from '../../src/sasl/index.ts'
import * as servers from '../../src/server/index.ts'

const entryPoints = { zkwire, 'zkwire/protocol': protocol, 'zkwire/recipes': recipes, 'zkwire/sasl': sasl }
const require = createRequire(import.meta.url)
const other = {
  zkwire: require('zkwire') as typeof zkwire,
  recipes: require('zkwire/recipes') as typeof recipes,
}

type ErrorClass = (abstract new (...args: never) => Error) & { readonly prototype: object }
const isErrorClass = (value: unknown): value is ErrorClass =>
  typeof value === 'function' && (value.prototype as unknown) instanceof Error

/** Every exported class of errors, from both copies. */
const errorClasses = Object.entries(entryPoints).flatMap(([name, ours]) => {
  const theirs = require(name) as Record<string, unknown>
  return Object.entries(ours).flatMap(([each, own]: [string, unknown]) =>
    isErrorClass(own) ? [{ name: each, own, foreign: theirs[each] as ErrorClass }] : [],
  )
})

/** Opens a client of each copy, with the same server. */
async function clients() {
  const server = await servers.Server.start({ listen: false })
  const { connectString, dial } = server
  const [own, foreign] = await Promise.all([zkwire, other.zkwire].map(each => each.connect(connectString, { dial })))
  assert(own && foreign)
  const close = async () => {
    await Promise.all([own.close(), foreign.close()])
    await server.close()
  }
  return { server, own, foreign, [Symbol.asyncDispose]: close }
}

export const checks: Record<string, () => Promise<void> | void> = {
  'the copies are two'() {
    assert.notEqual(zkwire.connect, other.zkwire.connect)
    assert(errorClasses.length >= 8)
    for (const { own, foreign } of errorClasses) assert.notEqual(own, foreign)
  },

  'instanceof recognizes the errors of the other copy'() {
    for (const { name, own, foreign } of errorClasses) {
      assert(Object.create(own.prototype) instanceof foreign, name)
      assert(Object.create(foreign.prototype) instanceof own, name)
    }
  },

  'instanceof recognizes the errors of the other copy by their own class only'() {
    const { ZooKeeperError, MultiError } = zkwire
    assert(Object.create(other.zkwire.MultiError.prototype) instanceof ZooKeeperError)
    assert(!(Object.create(other.zkwire.ZooKeeperError.prototype) instanceof MultiError))
    for (const { own } of errorClasses)
      for (const value of [new Error('x'), {}, null, undefined, 'x', Object.create(null)])
        assert(!(value instanceof own))
    class OwnError extends ZooKeeperError {}
    const context = { fate: 'refused' } as const
    assert(new OwnError('NONODE', context) instanceof other.zkwire.ZooKeeperError)
    assert(new OwnError('NONODE', context) instanceof OwnError)
    assert(!(new ZooKeeperError('NONODE', context) instanceof OwnError))
  },

  async 'a lock accepts a client of the other copy, waits, is lost and is released'() {
    await using both = await clients()
    const held = await new other.recipes.Mutex(both.own, '/deep/lock').acquire()
    const waiting = new recipes.Mutex(both.foreign, '/deep/lock').acquire()
    await held.guard().create('/written').commit()
    await held.release()
    const next = await waiting
    assert(next.token > held.token)
    await assert.rejects(
      new recipes.Mutex(both.foreign, '/deep/lock').acquire({ timeout: 5 }),
      (error: unknown) => error instanceof other.recipes.RecipeError && error.code === 'TIMEOUT',
    )
    both.server.expireSession(both.foreign.sessionId)
    await new Promise(resolve => next.signal.addEventListener('abort', resolve))
    assert(next.signal.reason instanceof other.recipes.RecipeError)
  },

  async 'a MultiLock sorts the locks of a MultiLock of the other copy'() {
    await using both = await clients()
    const [a, b, c] = ['/a', '/b', '/c'].map(path => new recipes.Mutex(both.own, path))
    assert(a && b && c)
    const nested = new recipes.MultiLock([a, c])
    const held = await new other.recipes.MultiLock([nested, b]).acquire()
    const paths = held.held.map(({ path }) => path.split('/')[1])
    await held.release()
    assert.deepEqual(paths, ['a', 'b', 'c'])
  },

  async 'a ReentrantMutex recognizes its holder that entered through the other copy'() {
    await using both = await clients()
    const mutexes = [recipes, other.recipes].map(each => new each.ReentrantMutex(both.own, '/r', { byContext: true }))
    const [mutex, otherMutex] = mutexes
    assert(mutex && otherMutex)
    await mutex.use(outer => otherMutex.use(inner => assert.equal(inner.token, outer.token), { timeout: 1000 }))
    const held = await mutex.acquire({ owner: 'x' })
    const again = await otherMutex.acquire({ owner: 'x', timeout: 1000 })
    assert.equal(both.server.snapshot().nodes.get('/r')?.stat.numChildren, 1)
    await again.release()
    await held.release()
  },

  async 'a permanent error of a dial of the other copy ends connect() at once'() {
    const failed = zkwire.connect('127.0.0.1:1', {
      dial: (_address, handler) => {
        setImmediate(() => handler.closed(new other.zkwire.PermanentError('wrong certificate')))
        return { write() {}, destroy() {} }
      },
    })
    await assert.rejects(
      failed,
      (error: unknown) => error instanceof other.zkwire.ZooKeeperError && error.code === 'PROTOCOL',
    )
  },
}

async function main(): Promise<void> {
  const results: [string, string | null][] = []
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check()
      results.push([name, null])
    } catch (error) {
      results.push([name, (error as Error).stack ?? String(error)])
    }
  }
  console.log(JSON.stringify(Object.fromEntries(results)))
}

if (process.argv[2] === 'run') void main()
