// What a session costs: to open, to keep, and to be told.
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { places, type Sample } from '../workloads.ts'
import type { Contestant, Peer } from './contestant.ts'

const openAll = (contestant: Contestant, count: number): Promise<Peer[]> =>
  Promise.all(Array.from({ length: count }, () => contestant.open()))

const closeAll = (peers: readonly Peer[]) => Promise.all(peers.map(peer => peer.close()))

async function measured(operations: number, work: () => Promise<unknown>): Promise<Sample> {
  const cpu = process.cpuUsage()
  const begun = performance.now()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { operations, cpu: user + system, ms: performance.now() - begun }
}

/** Before, V8 is compiling what is measured: of the second thousand, two fifths of our processor time. */
const OPENINGS_TO_WARM_UP = 5

/** All sessions of a process at once, after as many were opened and closed, several times over, to warm up. */
export async function opening(contestant: Contestant, sessions: number): Promise<Sample> {
  for (let i = 0; i < OPENINGS_TO_WARM_UP; i++) await closeAll(await openAll(contestant, sessions))
  await settled()
  const peers: Peer[] = []
  const sample = await measured(sessions, async () => peers.push(...(await openAll(contestant, sessions))))
  await closeAll(peers)
  return sample
}

/** What each further session adds to the process, after garbage is collected: so what the first ones brought is in no figure. */
export async function memory(contestant: Contestant, sessions: number): Promise<Sample> {
  const peers = await openAll(contestant, FIRST)
  const before = await settledMemory()
  const { operations, cpu, ms } = await measured(sessions, async () => {
    for (let open = 0; open < sessions; open += FIRST) peers.push(...(await openAll(contestant, FIRST)))
  })
  const bytes = ((await settledMemory()) - before) / sessions
  await closeAll(peers)
  return { operations, cpu, ms, bytes }
}

const FIRST = 500

async function settledMemory(): Promise<number> {
  await settled()
  return process.memoryUsage.rss()
}

async function settled(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    await delay(100)
  }
}

const BURSTS = 12
const WARM_UP = 4

/** A node that every session watches is changed by the parent process. Setting the watches again is no part of the figure. */
export async function notifications(contestant: Contestant, sessions: number): Promise<Sample> {
  const peers: Peer[] = []
  while (peers.length < sessions) peers.push(...(await openAll(contestant, Math.min(100, sessions - peers.length))))
  const total: Sample = { operations: 0, cpu: 0, ms: 0 }
  for (let burst = 0; burst < BURSTS; burst++) {
    let left = sessions
    let allFired: () => void = () => undefined
    const all = new Promise<void>(resolve => (allFired = resolve))
    const fired = () => {
      if (--left === 0) allFired()
    }
    await Promise.all(peers.map(peer => peer.watch(places.watched, fired)))
    const ready = once(process, 'message')
    process.send?.('change')
    await ready
    const { operations, cpu, ms } = await measured(sessions, () => {
      process.send?.('now')
      return all
    })
    if (burst < WARM_UP) continue
    total.operations += operations
    total.cpu += cpu
    total.ms += ms
  }
  await closeAll(peers)
  return total
}
