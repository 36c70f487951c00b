// A holder that is late, and the next one: what each store of docs/fencing.md must do.
import { expect } from 'chai'
import { join } from 'node:path'
import { connect } from '../../src/client/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'

/** The store of an example: one object for each holder. */
export interface FencedStore {
  register(token: bigint): Promise<string | null>
  write(token: bigint, data: string): Promise<void>
}

/** Returns a class of the examples. */
export const loadStore = async <T>(file: string, name: string): Promise<T> =>
  ((await import(join('..', '..', 'examples', 'fencing', file))) as Record<string, T>)[name] as T

/** Two holders of a lock, the second of which was granted it because the session of the first has ended. */
export async function twoTokens(): Promise<[bigint, bigint]> {
  await using server = await Server.start()
  await using a = await connect(server.connectString)
  await using b = await connect(server.connectString)
  const first = await new Mutex(a, '/locks/report').acquire()
  server.expireSession(a.sessionId)
  await using second = await new Mutex(b, '/locks/report').acquire()
  return [first.token, second.token]
}

/** The story of the page, for a store of any kind. */
export async function expectFencing(storeFor: () => FencedStore): Promise<void> {
  const [first, second] = await twoTokens()
  const [a, b] = [storeFor(), storeFor()]
  expect(await a.register(first)).to.equal(null)
  await a.write(first, 'by A')
  expect(await b.register(second)).to.equal('by A')
  expect(await b.register(second), 'again, because the reply was lost').to.equal('by A')
  const late = await a.write(first, 'late').catch((error: unknown) => String(error))
  expect(late).to.match(/is late: a later holder has registered/)
  await b.write(second, 'by B')
  expect(await a.register(first).catch((error: unknown) => String(error))).to.match(/is late/)
  expect(await storeFor().register(second)).to.equal('by B')
}
