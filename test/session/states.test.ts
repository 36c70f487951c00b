import { expect } from 'chai'
import { isConnected, isTerminal, mayMove, terminalCodes, type State } from '../../src/session/states.ts'

const states: State[] = ['connecting', 'connected', 'connectedReadOnly', 'suspended', 'expired', 'authFailed', 'closed']
const terminal: State[] = ['expired', 'authFailed', 'closed']

describe('the states of a session', () => {
  it('are left for others only, and a terminal one for none', () => {
    for (const from of states) {
      expect(mayMove(from, from), from).to.equal(false)
      expect(isTerminal(from), from).to.equal(terminal.includes(from))
      for (const to of states) if (terminal.includes(from)) expect(mayMove(from, to), `${from} ${to}`).to.equal(false)
    }
  })

  it('may end from any that is not terminal', () => {
    for (const from of states) {
      if (terminal.includes(from)) continue
      for (const to of terminal) expect(mayMove(from, to), `${from} ${to}`).to.equal(true)
    }
  })

  it('are connected by way of connecting or suspended, and suspended after having been connected', () => {
    for (const to of ['connected', 'connectedReadOnly'] as const)
      expect(states.filter(from => mayMove(from, to))).to.deep.equal(['connecting', 'suspended'])
    expect(states.filter(from => mayMove(from, 'suspended'))).to.deep.equal(states.filter(isConnected))
    expect(states.filter(from => mayMove(from, 'connecting'))).to.deep.equal([])
  })

  it('have an error of their own where they are terminal', () => {
    expect(Object.keys(terminalCodes)).to.have.members(terminal)
  })
})
