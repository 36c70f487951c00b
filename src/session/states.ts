// The states of a session and the moves between them.

export type State = 'connecting' | 'connected' | 'connectedReadOnly' | 'suspended' | 'expired' | 'authFailed' | 'closed'

const moves: Readonly<Record<State, readonly State[]>> = {
  connecting: ['connected', 'connectedReadOnly', 'expired', 'authFailed', 'closed'],
  connected: ['suspended', 'expired', 'authFailed', 'closed'],
  connectedReadOnly: ['suspended', 'expired', 'authFailed', 'closed'],
  suspended: ['connected', 'connectedReadOnly', 'expired', 'authFailed', 'closed'],
  expired: [],
  authFailed: [],
  closed: [],
}

export type TerminalState = 'expired' | 'authFailed' | 'closed'

export const mayMove = (from: State, to: State): boolean => moves[from].includes(to)

/** A session in such a state stays in it: every call rejects. */
export const isTerminal = (state: State): state is TerminalState => moves[state].length === 0

export const isConnected = (state: State): boolean => state === 'connected' || state === 'connectedReadOnly'

/** The error of a call in a terminal state. */
export const terminalCodes = { expired: 'SESSIONEXPIRED', authFailed: 'AUTHFAILED', closed: 'CLOSED' } as const
