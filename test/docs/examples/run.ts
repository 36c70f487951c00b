// Runs the examples. It is bundled with them.
import { expect } from 'chai'
import { inspect } from 'node:util'
import { connect, type Client } from '../../../src/index.ts'
import { Server } from '../../../src/server/index.ts'
import { until } from '../../../environment/until.ts'

/** The names that every example may use without a declaration. */
export interface Given {
  /** A client of `server`. */
  zk: Client
  /** Another client of `server`. */
  other: Client
  /** An empty embedded server. */
  server: Server
  /** The address of `server`. It replaces `localhost:2181`. */
  serverAddress: string
}

export interface Checks {
  /** Compares a value with the one after `// =>` in the same line. A pattern is compared with the text of the value. */
  check(line: number, actual: unknown, expected: unknown): void
  /** Fails unless the call throws an error with the code or the name after `// throws` in the same line. */
  throws(line: number, call: () => unknown, expected: string): Promise<void>
}

export interface RunnableExample {
  /** The file and the public name. */
  file: string
  name: string
  /** The given clients that the code uses. */
  uses: readonly ('zk' | 'other')[]
  /** True if the code connects to the server's port. */
  listens: boolean
  /** The lines that have a result. Each must be reached. */
  results: readonly number[]
  run: (given: Given & Checks) => Promise<void>
}

/** How long an example may take, in milliseconds: a hundred times what it needs, for a machine that is busy. */
const LIMIT = 10_000

/** Runs an example on a server of its own. Returns a sentence for each failure. */
export async function failuresOf(example: RunnableExample, limit = LIMIT): Promise<string[]> {
  const { file, name, uses, listens, results, run } = example
  const failures: string[] = []
  const missing = new Set(results)
  const fail = (line: number, reason: string) => void failures.push(`${file}:${line} ${name}: ${reason}`)
  const failAll = (error: unknown) => fail(results[0] ?? 0, inspect(error))
  const checks: Checks = {
    check(line, actual, expected) {
      missing.delete(line)
      try {
        if (expected instanceof RegExp) expect(String(actual)).to.match(expected)
        else expect(actual).to.deep.equal(expected)
      } catch {
        fail(line, `the result is ${inspect(actual, { breakLength: Infinity })}`)
      }
    },
    async throws(line, call, expected) {
      missing.delete(line)
      try {
        fail(line, `the result is ${inspect(await call())}, not an error ${expected}`)
      } catch (error) {
        const { code, name: kind, constructor } = error as Error & { code?: unknown }
        if (![code, kind, constructor.name].includes(expected)) fail(line, `throws ${inspect(error)}`)
      }
    },
  }
  const server = await Server.start({ listen: listens, extendedTypes: true })
  const clients = new Map<'zk' | 'other', Client>()
  for (const each of uses)
    clients.set(each, await connect(server.connectString, { dial: server.dial, onUncaughtError: failAll }))
  const given = {
    zk: clients.get('zk') as Client,
    other: clients.get('other') as Client,
    server,
    serverAddress: server.connectString,
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    const isLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the example did not end')), limit)
    })
    await Promise.race([run({ ...given, ...checks }), isLate])
    // Results in callbacks may come after the end of the code.
    await until(() => missing.size === 0, { within: limit }).catch(() => undefined)
    for (const line of missing) fail(line, 'the line was not reached')
  } catch (error) {
    failAll(error)
  } finally {
    clearTimeout(timer)
    await Promise.all([...clients.values()].map(client => client.close()))
    await server.close()
  }
  return failures
}
