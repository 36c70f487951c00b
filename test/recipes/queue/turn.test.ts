import { expect } from 'chai'
import fc from 'fast-check'
import { sequenceAfter, dialects, matching, type Naming } from '../../../src/recipes/queue/dialect.ts'
import * as turn from '../../../src/recipes/queue/turn.ts'

const { curator, kazoo } = dialects
const turnOf = (children: readonly string[], own: string, names: Naming, blocks = turn.blocksAlways) =>
  turn.turnOf({ children, directoryCzxid: 1n }, { name: own, czxid: 2n }, { names, blocks })
const digits = (sequence: number) => String(sequence).padStart(10, '0')
const named = (sequence: number) => `_c_2d5f6a1e-0000-4000-8000-000000000000-lock-${digits(sequence)}`

describe('sequenceAfter()', () => {
  const sequenceOf = sequenceAfter('lock-')

  it('returns the number of the last ten digits, negative if a minus precedes them', () => {
    expect(sequenceOf('_c_2d5f-lock-0000000007')).to.equal(7)
    expect(sequenceOf('lock--0000000007')).to.equal(-7)
    expect(sequenceOf('lock-2147483647')).to.equal(2147483647)
    for (const name of [
      '',
      'lock-',
      'lock-000000007',
      'lock-10000000007',
      'lock0000000007',
      '-0000000007',
      'ock-0000000007',
    ])
      expect(sequenceOf(name), name).to.equal(undefined)
  })

  it('returns the same as the equivalent regular expression for any name', () => {
    const piece = fc.constantFrom('lock-', 'lock', '-', '_c_2d5f', '0000000007', '2147483647', '12345', 'x', 'é', '')
    const inPattern = matching(/^[^/]*lock-(-?\d{10})$/)
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), pieces => {
        const name = pieces.join('')
        expect(sequenceOf(name), name).to.equal(inPattern(name))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('turnOf()', () => {
  it('grants the turn to the smallest number in an unsorted list', () => {
    expect(turnOf([named(7), named(5), named(6)], named(5), curator)).to.deep.equal({ status: 'first' })
  })

  it('waits for the nearest smaller number, and names the one before that', () => {
    const children = [named(7), named(3), named(6), named(1), named(5)]
    const waiting = { status: 'waiting', predecessor: named(5), second: named(3) }
    expect(turnOf(children, named(6), curator)).to.deep.equal(waiting)
    expect(turnOf(children.reverse(), named(6), curator)).to.deep.equal(waiting)
    expect(turnOf(children, named(3), curator)).to.deep.equal({
      status: 'waiting',
      predecessor: named(1),
      second: undefined,
    })
  })

  it('returns gone if the directory is younger than the own node, whose name is then another contender’s', () => {
    const list = (directoryCzxid: bigint) => ({ children: [named(1)], directoryCzxid })
    const rules = { names: curator, blocks: turn.blocksAlways }
    expect(turn.turnOf(list(3n), { name: named(1), czxid: 2n }, rules)).to.deep.equal({ status: 'gone' })
    expect(turn.turnOf(list(2n), { name: named(1), czxid: 2n }, rules)).to.deep.equal({ status: 'first' })
  })

  it('returns gone if the own node is not in the list', () => {
    expect(turnOf([named(1)], named(2), curator)).to.deep.equal({ status: 'gone' })
    expect(turnOf([], named(2), curator)).to.deep.equal({ status: 'gone' })
  })

  it('compares by number and never by the UUID before it', () => {
    const early = `_c_ffffffff-0000-4000-8000-000000000000-lock-${digits(1)}`
    const late = `_c_00000000-0000-4000-8000-000000000000-lock-${digits(2)}`
    expect(turnOf([late, early], late, curator)).to.deep.equal({
      status: 'waiting',
      predecessor: early,
      second: undefined,
    })
    expect(turnOf([late, early], early, curator)).to.deep.equal({ status: 'first' })
  })

  it('includes the nodes that other libraries create for the same lock', () => {
    const go = `_c_0123456789abcdef0123456789abcdef-lock-${digits(4)}`
    expect(turnOf([go, named(5)], named(5), curator)).to.deep.equal({
      status: 'waiting',
      predecessor: go,
      second: undefined,
    })
    const theirs = `0123456789abcdef0123456789abcdef__lock__${digits(4)}`
    const mine = `fedcba9876543210fedcba9876543210__lock__${digits(5)}`
    expect(turnOf([mine, theirs], mine, kazoo)).to.deep.equal({
      status: 'waiting',
      predecessor: theirs,
      second: undefined,
    })
  })

  it('ignores names that are not contenders', () => {
    const foreign = [
      'hello',
      '',
      '_c_',
      '_c_x',
      'lock-',
      'lock-1',
      `read-${digits(0)}`,
      '__proto__',
      'constructor',
      digits(0),
    ]
    expect(turnOf([...foreign, named(9)], named(9), curator)).to.deep.equal({ status: 'first' })
  })

  it('waits only for contenders that block the own node', () => {
    const children = [named(1), named(2), named(3), named(4)]
    const odd = turnOf(children, named(4), curator, earlier => earlier.sequence % 2 === 1)
    expect(odd).to.deep.equal({ status: 'waiting', predecessor: named(3), second: named(1) })
  })

  it('grants the turn to exactly one contender, and has each other one wait for its predecessor', () => {
    const queues = fc.uniqueArray(fc.nat(0x7fff_fffe), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(queues, fc.array(fc.string()), fc.integer(), (sequences, foreign, seed) => {
        const children = [...sequences.map(named), ...foreign.map(name => `x${name}`)]
        children.sort((a, b) => ((a.length * seed) % 7) - ((b.length * seed) % 7))
        const inOrder = [...sequences].sort((a, b) => a - b)
        inOrder.forEach((sequence, i) => {
          const [before, second] = [inOrder[i - 1], inOrder[i - 2]]
          const ahead = { predecessor: named(before ?? NaN), second: second === undefined ? undefined : named(second) }
          const expected = before === undefined ? { status: 'first' } : { status: 'waiting', ...ahead }
          expect(turnOf(children, named(sequence), curator)).to.deep.equal(expected)
        })
      }),
    )
  })

  it('orders contenders of equal numbers by name', () => {
    const a = `_c_aaaaaaaa-0000-4000-8000-000000000000-lock-${digits(1)}`
    const b = `_c_bbbbbbbb-0000-4000-8000-000000000000-lock-${digits(1)}`
    expect(turnOf([b, a], a, curator)).to.deep.equal({ status: 'first' })
    expect(turnOf([a, b], b, curator)).to.deep.equal({ status: 'waiting', predecessor: a, second: undefined })
  })
})
