// Hands a lock over among contenders with separate sessions, each of which acquires it several times.
import { createRequire } from 'node:module'
import { once } from 'node:events'
import { measured } from '../../processes/answer-turns.ts'
import type { Turns } from '../../processes/turns.ts'
import { WARM_UP_ACQUISITIONS, type HandOver, type Task } from '../workloads.ts'
import { textbookLock, type Package } from './textbook-lock.ts'
import { plainLocks } from './plain-locks.ts'
import { PlainSession, type Protocol } from './plain-session.ts'

interface Contender {
  acquire(): Promise<() => Promise<unknown>>
  close(): Promise<unknown>
}

type Open = (directory: string) => Promise<Contender>

const zkwire = async ({ dist, port }: Task, lock: 'Mutex' | 'TicketMutex'): Promise<Open> => {
  const { connect } = (await import(`${dist}/index.js`)) as typeof import('../../../src/index.ts')
  const recipes = (await import(`${dist}/recipes/index.js`)) as typeof import('../../../src/recipes/index.ts')
  return async directory => {
    const client = await connect(`127.0.0.1:${port}`, { sessionTimeout: 60_000 })
    const mutex = new recipes[lock](client, directory)
    const acquire = async () => {
      const held = await mutex.acquire()
      return () => held.release()
    }
    return { acquire, close: () => client.close() }
  }
}

const raw = async ({ dist, port }: Task, lock: HandOver['lock']): Promise<Open> => {
  const protocol = (await import(`${dist}/protocol/index.js`)) as Protocol
  return async directory => {
    const session = await PlainSession.open(protocol, port)
    const plain = new plainLocks[lock](session, directory)
    return { acquire: () => plain.acquire(), close: () => session.close() }
  }
}

const nodeZookeeperClient = ({ peers, port }: Task): Open => {
  const library = createRequire(peers)('node-zookeeper-client') as Package
  return async directory => {
    const client = library.createClient(`127.0.0.1:${port}`, { sessionTimeout: 60_000 })
    const connected = once(client, 'connected')
    client.connect()
    await connected
    const close = async () => {
      const disconnected = once(client, 'disconnected')
      client.close()
      await disconnected
    }
    return { acquire: textbookLock(library, client, directory), close }
  }
}

function opener(task: Task, lock: HandOver['lock']): Promise<Open> | Open {
  const { subject } = task
  if (subject === 'raw') return raw(task, lock)
  if (subject === 'node-zookeeper-client') return nodeZookeeperClient(task)
  if (lock === 'signalled') throw new Error(`${subject} has no such lock`)
  return zkwire(task, lock)
}

export async function handOver(task: Task, { lock, contenders: count, acquisitions }: HandOver): Promise<Turns> {
  const open = await opener(task, lock)
  const contenders = await Promise.all(Array.from({ length: count }, () => open(`${task.directory}/lock`)))
  let holders = 0
  const turn = async (acquisitions: number) => {
    await Promise.all(
      contenders.map(async contender => {
        for (let i = 0; i < acquisitions; i++) {
          const release = await contender.acquire()
          if (++holders !== 1) throw new Error('two hold the lock')
          holders--
          await release()
        }
      }),
    )
  }
  await turn(WARM_UP_ACQUISITIONS)
  return {
    measure: () => measured(() => turn(acquisitions).then(() => count * acquisitions)),
    end: () => Promise.all(contenders.map(each => each.close())),
  }
}
