// One process of those who are tortured: its sessions want locks, and it writes down on stdout what becomes of that, until it is told to stop.
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/index.ts'
import { toLine } from '../linearizability/history.ts'
import { Recorder, type RecordedClient } from '../linearizability/recorder.ts'
import { lockKinds } from '../linearizability/lock-kinds.ts'
import { attemptOne } from '../linearizability/workload.ts'
import { oneOf, seeded } from '../support/seeded-random.ts'
import { expireSession } from '../support/shared-server.ts'

export interface WorkerOptions {
  /** What the ids of its tries begin with. */
  name: string
  seed: number
  connectString: string
  sessionTimeout: number
}

const SESSIONS = 2
const LOOPS = 3
/** For how long it may take to let everybody have what is still wanted, ms. */
const DRAIN = 30_000

const { name, seed, connectString, sessionTimeout } = JSON.parse(process.argv[2] ?? '') as WorkerOptions
const random = seeded(seed)
const recorder = new Recorder(event => console.log(toLine(event)))
const clients: Client[] = []
const end = new AbortController()
let isOn = true

const options = { sessionTimeout, connectTimeout: 10_000 }

/** Until there is a server. */
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

/** Ends one of its own sessions at the server, as an administrator would. */
async function killSession({ recorded: { client } }: Slot): Promise<void> {
  const { sessionId: session, sessionPassword } = client
  const [host = '', port] = oneOf(random, connectString.split(',')).split(':')
  recorder.record({ is: 'killed', session })
  await expireSession({ host, port: Number(port) }, session, sessionPassword).catch(() => undefined)
}

const slots = await Promise.all(Array.from({ length: SESSIONS }, async () => ({ recorded: await openSession() })))
const working = Promise.all(slots.flatMap(slot => Array.from({ length: LOOPS }, () => runLoop(slot))))

for await (const order of createInterface({ input: process.stdin })) {
  if (order === 'kill') {
    void killSession(oneOf(random, slots))
  } else if (order === 'stop') {
    isOn = false
    const timer = setTimeout(() => end.abort(new Error('nobody let it in')), DRAIN)
    await working
    clearTimeout(timer)
    await Promise.all(clients.map(client => client.settled()))
    console.log('settled')
  } else {
    await Promise.all(clients.map(client => client.close()))
  }
}
