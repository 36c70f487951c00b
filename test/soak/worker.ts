// A worker process of the soak run: its sessions attempt random locks and print their events to stdout, until stdin
// says `stop`.
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/index.ts'
import { toLine } from '../linearizability/history.ts'
import { Recorder, type RecordedClient } from '../linearizability/recorder.ts'
import { lockKinds } from '../linearizability/lock-kinds.ts'
import { attemptOne } from '../linearizability/workload.ts'
import { oneOf, seededRandom } from '../support/seeded-random.ts'
import { expireSession } from '../support/shared-server.ts'

export interface WorkerOptions {
  /** The prefix of the ids of the worker's attempts. */
  name: string
  seed: number
  connectString: string
  sessionTimeout: number
}

const SESSIONS = 2
const LOOPS = 3
/** The node that the load reads, the bytes of its data, and the reads of a burst. */
const LARGE = '/large'
const BYTES = 20_000
const BURST = 300
/** All pending attempts must finish within this time after `stop`, ms. */
const DRAIN = 30_000

const { name, seed, connectString, sessionTimeout } = JSON.parse(process.argv[2] ?? '') as WorkerOptions
const random = seededRandom(seed)
const recorder = new Recorder(event => console.log(toLine(event)))
const clients: Client[] = []
const end = new AbortController()
let isOn = true

const options = { sessionTimeout, connectTimeout: 10_000 }

/** Opens a session, and retries until a server is reachable. */
async function openSession(): Promise<RecordedClient> {
  for (;;) {
    try {
      const recorded = await recorder.open(connectString, options, `${name}-`)
      clients.push(recorded.client)
      return recorded
    } catch {
      await delay(100)
    }
  }
}

interface Slot {
  recorded: RecordedClient
}

async function runLoop(slot: Slot): Promise<void> {
  while (isOn) {
    const { recorded } = slot
    await attemptOne(recorded, { locks: lockKinds, sessionTimeout, random, end: end.signal })
    if (recorded.client.state !== 'expired') continue
    const next = await openSession()
    if (slot.recorded === recorded) slot.recorded = next
  }
}

/** Loads a session by bursts of large reads, beside whatever it holds or waits for. The reads may fail: faults end them. */
async function runLoad(slot: Slot): Promise<void> {
  while (isOn) {
    const { client } = slot.recorded
    await client.create(LARGE, Buffer.alloc(BYTES)).catch(() => undefined)
    await Promise.allSettled(Array.from({ length: BURST }, () => client.getData(LARGE)))
    await delay(2 * sessionTimeout * random())
  }
}

/** Ends one of this worker's sessions at the server, as an administrator could. */
async function killSession({ recorded: { client } }: Slot): Promise<void> {
  const { sessionId: session, sessionPassword } = client
  const [host = '', port] = oneOf(random, connectString.split(',')).split(':')
  recorder.record({ is: 'killed', session })
  await expireSession({ host, port: Number(port) }, session, sessionPassword).catch(() => undefined)
}

const slots = await Promise.all(Array.from({ length: SESSIONS }, async () => ({ recorded: await openSession() })))
const working = Promise.all(
  slots.flatMap(slot => [runLoad(slot), ...Array.from({ length: LOOPS }, () => runLoop(slot))]),
)

for await (const command of createInterface({ input: process.stdin })) {
  if (command === 'kill') {
    void killSession(oneOf(random, slots))
  } else if (command === 'stop') {
    isOn = false
    const timer = setTimeout(
      () => end.abort(new Error(`the lock was not granted within ${DRAIN} ms after the last fault`)),
      DRAIN,
    )
    await working
    clearTimeout(timer)
    await Promise.all(clients.map(client => client.settled()))
    console.log('settled')
  } else {
    await Promise.all(clients.map(client => client.close()))
  }
}
