// One process of those who are tortured: its sessions want locks, and it writes down on stdout what becomes of that, until it is told to stop.
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/index.ts'
import { toLine } from '../linearizability/history.ts'
import { Recorder, type Contestant } from '../linearizability/recorder.ts'
import { tortured } from '../linearizability/lock-kinds.ts'
import { wantOne } from '../linearizability/workload.ts'
import { oneOf, seededRandom } from '../support/seeded-random.ts'
import { expireSession } from '../support/shared-server.ts'

export interface Orders {
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

const { name, seed, connectString, sessionTimeout } = JSON.parse(process.argv[2] ?? '') as Orders
const random = seededRandom(seed)
const recorder = new Recorder(event => console.log(toLine(event)))
const clients: Client[] = []
const end = new AbortController()
let isOn = true

const options = { sessionTimeout, connectTimeout: 10_000 }

/** Until there is a server. */
async function open(): Promise<Contestant> {
  for (;;) {
    try {
      const contestant = await recorder.open(connectString, options, `${name}-`)
      clients.push(contestant.client)
      return contestant
    } catch {
      await delay(100)
    }
  }
}

interface Seat {
  contestant: Contestant
}

async function work(seat: Seat): Promise<void> {
  while (isOn) {
    const { contestant } = seat
    await wantOne(contestant, { locks: tortured, sessionTimeout, random, end: end.signal })
    if (contestant.client.state !== 'expired') continue
    const next = await open()
    if (seat.contestant === contestant) seat.contestant = next
  }
}

/** Ends one of its own sessions at the server, as an administrator would. */
async function kill({ contestant: { client } }: Seat): Promise<void> {
  const { sessionId: session, sessionPassword } = client
  const [host = '', port] = oneOf(random, connectString.split(',')).split(':')
  recorder.say({ is: 'killed', session })
  await expireSession({ host, port: Number(port) }, session, sessionPassword).catch(() => undefined)
}

const seats = await Promise.all(Array.from({ length: SESSIONS }, async () => ({ contestant: await open() })))
const working = Promise.all(seats.flatMap(seat => Array.from({ length: LOOPS }, () => work(seat))))

for await (const order of createInterface({ input: process.stdin })) {
  if (order === 'kill') {
    void kill(oneOf(random, seats))
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
