// The life of a session: its states, lease, identity and credentials. This file has the states and their transitions.
// May import: protocol, runtime.
import type { CallbackRunner } from '../../runtime/callbacks.ts'

/**
 * The state of a session. `connecting`: no server has accepted it yet. `connectedReadOnly`: the server has no quorum
 * and rejects writes. `suspended`: the connection was lost, and the client reconnects. `expired`, `authFailed` and
 * `closed` are final.
 * @example
 * const states: State[] = [zk.state]
 * await zk.close()
 * states.concat(zk.state) // => ['connected', 'closed']
 */
export type State = 'connecting' | 'connected' | 'connectedReadOnly' | 'suspended' | 'expired' | 'authFailed' | 'closed'

const terminal = ['expired', 'authFailed', 'closed'] as const
const fromDisconnected = ['connected', 'connectedReadOnly', ...terminal] as const
const fromConnected = ['suspended', ...terminal] as const

const moves: Readonly<Record<State, readonly State[]>> = {
  connecting: fromDisconnected,
  connected: fromConnected,
  connectedReadOnly: fromConnected,
  suspended: fromDisconnected,
  expired: [],
  authFailed: [],
  closed: [],
}

export type TerminalState = (typeof terminal)[number]

export const mayMove = (from: State, to: State): boolean => moves[from].includes(to)

/** True if the session never leaves that state. Every call then rejects. */
export const isTerminal = (state: State): state is TerminalState => moves[state].length === 0

export const isConnected = (state: State): boolean => state === 'connected' || state === 'connectedReadOnly'

/** The code of the error that every call rejects with in a terminal state. */
export const terminalCodes = { expired: 'SESSIONEXPIRED', authFailed: 'AUTHFAILED', closed: 'CLOSED' } as const

export type StateListener = (state: State, previous: State) => void

/** The state of one session, and the listeners to its changes. */
export class StateMachine {
  #current: State = 'connecting'
  /** Undefined if empty, because most sessions have one listener while they connect, and none later. */
  #listeners: Set<StateListener> | undefined
  readonly #callbacks: CallbackRunner

  constructor(callbacks: CallbackRunner) {
    this.#callbacks = callbacks
  }

  get current(): State {
    return this.#current
  }

  /**
   * Changes the state, and calls the listeners in a microtask. Nothing else changes the state.
   * @throws Error if the transition is not allowed
   */
  enter(state: State): void {
    const previous = this.#current
    if (!mayMove(previous, state)) throw new Error(`a session cannot move from ${previous} to ${state}`)
    this.#current = state
    for (const listener of this.#listeners ?? [])
      this.#callbacks.later(
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
