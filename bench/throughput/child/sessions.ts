// The cost of opening a session, of keeping it, and of notifying it.
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { sum } from '../../measure/statistics.ts'
import { measured } from '../../processes/answer-turns.ts'
import type { Sample, Turns } from '../../processes/turns.ts'
import { paths } from '../workloads.ts'
import type { Subject, Peer } from './subject.ts'

const openAll = (subject: Subject, count: number): Promise<Peer[]> =>
  Promise.all(Array.from({ length: count }, () => subject.open()))

const closeAll = (peers: readonly Peer[]) => Promise.all(peers.map(peer => peer.close()))

/** The number of warm-up rounds: enough for V8 to compile the code under measurement. */
const OPENINGS_TO_WARM_UP = 5
const OPENINGS = 3

/** Opens all sessions of a process at once. Before that, opens and closes the same number several times, to warm up. */
export async function opening(subject: Subject, sessions: number): Promise<Turns> {
  // Keep one session open. Otherwise, after the last one is closed, V8 would collect the hidden classes of the
  // sessions' objects, and discard the compiled code.
  const kept = await subject.open()
  for (let i = 0; i < OPENINGS_TO_WARM_UP; i++) await closeAll(await openAll(subject, sessions))
  const measure = async () => {
    await collected()
    const samples: Sample[] = []
    for (let i = 0; i < OPENINGS; i++) {
      const peers: Peer[] = []
      samples.push(await measured(async () => peers.push(...(await openAll(subject, sessions)))))
      await closeAll(peers)
    }
    return sumOf(samples)
  }
  return { measure, end: () => kept.close() }
}

/**
 * Measures the memory that each further session adds to an idle process. The costs of the first ones are not included.
 */
export async function memory(subject: Subject, sessions: number): Promise<Turns> {
  const peers = await openAll(subject, FIRST)
  const measure = async () => {
    const before = await idleMemory()
    const sample = await measured(async () => {
      for (let open = 0; open < sessions; open += FIRST) peers.push(...(await openAll(subject, FIRST)))
      return sessions
    })
    return { ...sample, bytes: ((await idleMemory()) - before) / sessions }
  }
  return { measure, end: () => closeAll(peers) }
}

const FIRST = 500

/**
 * The idle time before memory is measured, ms. After a burst V8 keeps up to 32 MB, which belong to the process and not
 * to its sessions. It releases them when little has been allocated for five seconds.
 */
const IDLE = 6000

async function idleMemory(): Promise<number> {
  // Collect earlier garbage first, so that V8 does not count it as allocated during the idle seconds.
  await collected()
  await delay(IDLE)
  await collected()
  return process.memoryUsage.rss()
}

async function collected(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    await delay(100)
  }
}

const sumOf = (samples: readonly Sample[]): Sample => ({
  operations: sum(samples.map(({ operations }) => operations)),
  cpu: sum(samples.map(({ cpu }) => cpu)),
  ms: sum(samples.map(({ ms }) => ms)),
})

const WARM_UP = 8
const BURSTS_OF_A_TURN = 2

/**
 * The parent process changes a node that every session watches. Setting the watches again is not measured.
 */
export async function notifications(subject: Subject, sessions: number): Promise<Turns> {
  const peers: Peer[] = []
  while (peers.length < sessions) peers.push(...(await openAll(subject, Math.min(100, sessions - peers.length))))
  const burst = async (): Promise<Sample> => {
    let left = sessions
    let allFired: () => void = () => undefined
    const all = new Promise<void>(resolve => (allFired = resolve))
    const fired = () => {
      if (--left === 0) allFired()
    }
    await Promise.all(peers.map(peer => peer.watch(paths.watched, fired)))
    const ready = once(process, 'message')
    process.send?.('change')
    await ready
    return measured(async () => {
      process.send?.('now')
      await all
      return sessions
    })
  }
  const bursts = async (count: number): Promise<Sample> => {
    const samples: Sample[] = []
    while (samples.length < count) samples.push(await burst())
    return sumOf(samples)
  }
  await bursts(WARM_UP)
  return { measure: () => bursts(BURSTS_OF_A_TURN), end: () => closeAll(peers) }
}
