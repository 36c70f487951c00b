// The life of a session: its states, lease, identity and credentials. This file: the states, and the moves between them.
// May import: protocol, runtime.
import type { CallbackRunner } from '../../runtime/callbacks.ts'

export type State = 'connecting' | 'connected' | 'connectedReadOnly' | 'suspended' | 'expired' | 'authFailed' | 'closed'

const ends = ['expired', 'authFailed', 'closed'] as const
const toServer = ['connected', 'connectedReadOnly', ...ends] as const
const fromServer = ['suspended', ...ends] as const

const moves: Readonly<Record<State, readonly State[]>> = {
  connecting: toServer,
  connected: fromServer,
  connectedReadOnly: fromServer,
  suspended: toServer,
  expired: [],
  authFailed: [],
  closed: [],
}

export type TerminalState = (typeof ends)[number]

export const mayMove = (from: State, to: State): boolean => moves[from].includes(to)

/** A session in such a state stays in it: every call rejects. */
export const isTerminal = (state: State): state is TerminalState => moves[state].length === 0

export const isConnected = (state: State): boolean => state === 'connected' || state === 'connectedReadOnly'

/** The error of a call in a terminal state. */
export const terminalCodes = { expired: 'SESSIONEXPIRED', authFailed: 'AUTHFAILED', closed: 'CLOSED' } as const

export type StateListener = (state: State, previous: State) => void

/** The state of one session, and who hears of its moves. */
export class StateMachine {
  #current: State = 'connecting'
  /** While there are any: a session that is opened has one, and for the most part none later. */
  #listeners: Set<StateListener> | undefined
  readonly #userCode: CallbackRunner

  constructor(userCode: CallbackRunner) {
    this.#userCode = userCode
  }

  get current(): State {
    return this.#current
  }

  /** The only writer. */
  enter(state: State): void {
    const previous = this.#current
    if (!mayMove(previous, state)) throw new Error(`a session does not move from ${previous} to ${state}`)
    this.#current = state
    for (const listener of this.#listeners ?? [])
      this.#userCode.later(
        previous => (this.#listeners?.has(listener) === true ? listener(state, previous) : undefined),
        previous,
      )
  }

  on(listener: StateListener): void {
    this.#listeners = (this.#listeners ?? new Set()).add(listener)
  }

  off(listener: StateListener): void {
    this.#listeners?.delete(listener)
    if (this.#listeners?.size === 0) this.#listeners = undefined
  }
}
