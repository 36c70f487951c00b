// The specifications of docs/spec, with values for their constants.
import { readDocument } from '../support/document.ts'
import { Specification } from './evaluator.ts'
import { moduleOf } from './syntax.ts'
import { SetValue, type Value } from './values.ts'

/** A name of TLA+, which has no meaning but to differ from others. */
export const clientName = (client: number): string => `client ${client}`

/** @param change plants a bug in its text */
export const mutex = (clients: number, last: number, change?: readonly [from: string, to: string]): Specification => {
  const names = Array.from({ length: clients }, (_, i) => clientName(i + 1))
  return specification('Mutex', { Clients: new SetValue(names), Last: last }, change)
}

export const MUTEX_INVARIANTS = ['MutualExclusion', 'Told', 'NoLostWakeUp', 'NoHerd']

/** @param wait how long after P the client sends Q, in half ticks */
export const lease = (timeout: number, wait: number, end: number): Specification =>
  specification('Lease', { T: timeout, Wait: wait, End: end })

function specification(
  name: string,
  constants: Record<string, Value>,
  [from, to]: readonly [from: string, to: string] = ['', ''],
): Specification {
  const text = readDocument(`docs/spec/${name}.tla`)
  if (!text.includes(from)) throw new Error(`${name}.tla has no ${from}`)
  return new Specification(moduleOf(text.replace(from, to)), constants)
}
