// The history of one node, as a register, a lock or a counter: which calls are operations on it, and in words.
import type { Operation, Outcome } from '../world/picture.ts'
import type { Call } from '../world/story.ts'
import { judge, type Placed, type Judgement, type SequentialObject, type Timed } from './linearization.ts'

/** A node whose history is judged, and what it is to its clients. */
export interface Subject {
  readonly is: 'register' | 'lock' | 'counter'
  readonly path: string
}

/** The data of the node as text. Null if there is no node. */
type State = string | null

export interface NodeOperation extends Timed<Outcome> {
  /** From A, in the order of the calls. Empty for a `sync`, which says nothing of the node, and is not judged. */
  readonly letter: string
  readonly call: Call
  /** What it did and what came of it, for example “get → old”. */
  readonly text: string
}

export interface NodeHistory {
  readonly operations: readonly NodeOperation[]
  /** Undefined as long as the reader is asked for it. */
  readonly verdict: Verdict | undefined
}

export interface Verdict {
  /** The operations in an order that proves the history legal; undefined if there is none. */
  readonly order:
    readonly { readonly operation: NodeOperation; readonly at: number; readonly state: string }[] | undefined
  /** The operation that has no place; undefined if the history is legal. */
  readonly misfit: NodeOperation | undefined
  /** Sentences. Code stands between backticks. */
  readonly text: string
}

/** Errors after which nobody knows whether a write has had its effect. */
const UNKNOWN = ['CONNECTIONLOSS', 'OPERATIONTIMEOUT', 'SESSIONEXPIRED', 'SESSIONMOVED']

/** Returns the history of a node. @param isJudged false if the reader is still asked for the verdict */
export function nodeHistoryOf(all: readonly Operation[], subject: Subject, isJudged: boolean): NodeHistory {
  let judged = 0
  const operations = all
    .filter(({ call }) => call.path === subject.path && WORDS[subject.is].calls.includes(call.op))
    .map(({ client, call, from, until, outcome }): NodeOperation => {
      const isUnknown = outcome !== undefined && 'error' in outcome && UNKNOWN.includes(outcome.error)
      const [end, result] = isUnknown ? [undefined, undefined] : [until, outcome]
      const letter = call.op === 'sync' ? '' : String.fromCharCode(65 + judged++)
      return { letter, client, call, from, until: end, result, text: textOf(subject, call, result) }
    })
  return { operations, verdict: isJudged ? verdictOn(operations, subject) : undefined }
}

/** A node that executes one call after another. */
const node: SequentialObject<State, NodeOperation> = {
  initial: null,
  after: (state, { call, result }) => {
    const error = result !== undefined && 'error' in result ? result.error : undefined
    const value = result !== undefined && 'value' in result ? result.value : undefined
    const isPending = result === undefined
    const isThere = state !== null
    if (error === 'NODEEXISTS' || error === 'NONODE') return isThere === (error === 'NODEEXISTS') ? [state] : []
    // Another error tells nothing of the node.
    if (error !== undefined) return [state]
    switch (call.op) {
      case 'create':
        return isThere ? (isPending ? [state] : []) : [call.data]
      case 'set':
        return isThere ? [call.data] : isPending ? [state] : []
      case 'delete':
        return isThere || isPending ? [null] : []
      case 'get':
        return isPending || (isThere && state === (value ?? '')) ? [state] : []
      case 'exists':
        return isPending || value === isThere ? [state] : []
      case 'increment': {
        const next = String(Number(state ?? '0') + 1)
        return isPending || value === next ? [next] : []
      }
      default:
        throw new Error(`${call.op} is no operation of a history`)
    }
  },
}

function verdictOn(operations: readonly NodeOperation[], subject: Subject): Verdict {
  const judgement = judge(
    node,
    operations.filter(({ letter }) => letter !== ''),
  )
  const stateOf = WORDS[subject.is].state
  if (!judgement.isLegal) return { order: undefined, misfit: judgement.misfit, text: objectionOf(judgement, subject) }
  const order = judgement.order.map(({ state, ...rest }) => ({ ...rest, state: stateOf(state) }))
  return { order, misfit: undefined, text: proofOf(judgement.order) }
}

const proofOf = (order: readonly Placed<State, NodeOperation>[]): string =>
  `Legal: ${order.map(({ operation }) => operation.letter).join(', ')} is an order in which each has its result, and none stands before one that was over when it was called.`

function objectionOf(
  { misfit, before, states }: Extract<Judgement<State, NodeOperation>, { isLegal: false }>,
  { is }: Subject,
): string {
  const { state } = WORDS[is]
  const bound =
    before.length === 0
      ? ''
      : ` ${listOf(before.map(({ letter }) => letter))} ${before.length === 1 ? 'was' : 'were'} over when client ${misfit.client} called it, so it must come later.`
  return `Not legal: ${misfit.letter}, \`${misfit.text}\`, has no place.${bound} Wherever it stands then, ${listOf(states.map(state), 'or')}.`
}

const listOf = (all: readonly string[], last = 'and'): string => all.join(', ').replace(/, ([^,]*)$/, ` ${last} $1`)

/** What each kind of object is called, and what its clients call. */
const WORDS: Readonly<
  Record<Subject['is'], { readonly calls: readonly Call['op'][]; readonly state: (state: State) => string }>
> = {
  register: {
    calls: ['create', 'set', 'get', 'delete', 'sync'],
    state: state => (state === null ? 'there is no value' : `the value is \`${state}\``),
  },
  lock: {
    calls: ['create', 'delete', 'exists', 'sync'],
    state: state => (state === null ? 'the lock is free' : 'the lock is held'),
  },
  counter: { calls: ['increment', 'get', 'sync'], state: state => `the number is ${state ?? 0}` },
}

/** Says what an operation did. */
function textOf({ is }: Subject, call: Call, result: Outcome | undefined): string {
  const name = nameOf(is, call)
  if (result === undefined) return `${name} → ?`
  if ('error' in result) return `${name} → ${is === 'lock' && call.op === 'create' ? 'refused' : result.error}`
  if (call.op === 'exists') return `${name} → ${result.value === true ? 'held' : 'free'}`
  if (is === 'lock' && call.op === 'create') return `${name} → got it`
  return call.op === 'get' || call.op === 'increment' ? `${name} → ${String(result.value)}` : name
}

function nameOf(is: Subject['is'], call: Call): string {
  if (is === 'lock') return { create: 'take', delete: 'release', exists: 'look' }[call.op as string] ?? call.op
  if (call.op === 'increment') return 'add 1'
  return 'data' in call ? `set ${call.data}` : call.op
}
