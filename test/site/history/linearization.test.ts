import { expect } from 'chai'
import fc from 'fast-check'
import { judge, type SequentialObject, type Timed } from '../../../site/history/linearization.ts'

/** An operation on a register: `set` returns nothing, and `get` the value. */
interface Operation extends Timed<number | 'set'> {
  readonly set?: number
}

const register: SequentialObject<number, Operation> = {
  initial: 0,
  after: (state, { set, result }) =>
    set !== undefined ? [set] : result === undefined || result === state ? [state] : [],
}

const set = (client: number, from: number, until: number | undefined, value: number): Operation => ({
  ...{ client, from, until, set: value, result: until === undefined ? undefined : 'set' },
})
const get = (client: number, from: number, until: number, result: number): Operation => ({
  ...{ client, from, until, result },
})

/** The places of the operations in the order that was found, or else of the one that has no place. */
const said = (...operations: Operation[]) => {
  const judgement = judge(register, operations)
  return judgement.isLegal
    ? judgement.order.map(({ operation }) => operations.indexOf(operation))
    : { misfit: operations.indexOf(judgement.misfit), states: judgement.states }
}

describe('a history', () => {
  it('is legal without operations', () => {
    expect(said()).to.deep.equal([])
  })

  it('is legal if a get that overlaps a set has the old value or the new one', () => {
    expect(said(set(1, 1, 4, 5), get(2, 2, 3, 0))).to.deep.equal([1, 0])
    expect(said(set(1, 1, 4, 5), get(2, 2, 3, 5))).to.deep.equal([0, 1])
  })

  it('is legal if a get after two sets that overlap has the value of either', () => {
    for (const [value, order] of [
      [5, [1, 0, 2]],
      [6, [0, 1, 2]],
    ] as const)
      expect(said(set(1, 1, 4, 5), set(2, 1, 4, 6), get(3, 5, 6, value))).to.deep.equal(order)
  })

  it('is not legal if a get that was called after a set has the old value', () => {
    expect(said(set(1, 1, 2, 5), get(2, 3, 4, 0))).to.deep.equal({ misfit: 1, states: [5] })
  })

  it('is not legal if a get has the old value after another get had the new one', () => {
    const history = [set(1, 1, 9, 5), get(2, 2, 3, 5), get(3, 4, 5, 0)]
    expect(said(...history)).to.deep.equal({ misfit: 2, states: [5] })
  })

  it('names each state that the object can have where the misfit may be placed', () => {
    expect(said(set(1, 1, 9, 5), set(2, 1, 9, 6), get(3, 2, 3, 7))).to.deep.equal({ misfit: 2, states: [6, 5, 0] })
  })

  it('orders the calls of one client, also if one begins at the moment at which another ends', () => {
    expect(said(set(1, 1, 2, 5), get(1, 2, 3, 0))).to.deep.equal({ misfit: 1, states: [5] })
    expect(said(set(1, 1, 2, 5), get(2, 2, 3, 0))).to.deep.equal([1, 0])
  })

  it('is legal whether a set without a result has had its effect or not, also late', () => {
    const lost = set(1, 1, undefined, 5)
    expect(said(lost, get(2, 2, 3, 0), get(2, 4, 5, 0))).to.deep.equal([1, 2])
    expect(said(lost, get(2, 2, 3, 0), get(2, 4, 5, 5))).to.deep.equal([1, 0, 2])
    expect(said(lost, get(2, 2, 3, 5), get(2, 4, 5, 0))).to.deep.equal({ misfit: 2, states: [5] })
  })

  it('tells which operations were over when the misfit was called', () => {
    const operations = [set(1, 1, 2, 5), set(1, 3, 6, 6), get(2, 4, 5, 0)]
    const judgement = judge(register, operations)
    expect(judgement.isLegal ? undefined : judgement.before).to.deep.equal([operations[0]])
  })

  /** Any history of some clients, each of which calls one after another. */
  const histories = fc
    .array(
      fc.array(
        fc.record({
          pause: fc.integer({ min: 0, max: 3 }),
          lasts: fc.integer({ min: 0, max: 4 }),
          set: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
          result: fc.integer({ min: 0, max: 2 }),
          isLost: fc.boolean(),
        }),
        { maxLength: 2 },
      ),
      { maxLength: 3 },
    )
    .map(clients =>
      clients.flatMap((calls, client) => {
        let at = 0
        return calls.map(({ pause, lasts, set: value, result, isLost }, i): Operation => {
          const from = (at += pause)
          const until = (at += lasts)
          if (value === undefined) return get(client, from, until, result)
          return set(client, from, isLost && i === calls.length - 1 ? undefined : until, value)
        })
      }),
    )

  it('is judged as by trying each order of each choice of operations', () => {
    fc.assert(
      fc.property(histories, operations => {
        expect(judge(register, operations).isLegal).to.equal(hasOrder(operations))
      }),
    )
  })

  it('has an order with times that grow, each between the call and the result, and the states of the register', () => {
    fc.assert(
      fc.property(histories, operations => {
        const judgement = judge(register, operations)
        if (!judgement.isLegal) return
        let [before, value] = [-Infinity, 0]
        for (const { operation, at, state } of judgement.order) {
          expect(at).to.be.within(operation.from, operation.until ?? Infinity)
          expect(at).to.be.at.least(before)
          if (operation.set === undefined) expect(operation.result).to.equal(value)
          ;[before, value] = [at, operation.set ?? value]
          expect(state).to.equal(value)
        }
      }),
    )
  })

  it('has a misfit without whose result, and all later ones, it would be legal', () => {
    fc.assert(
      fc.property(histories, operations => {
        const judgement = judge(register, operations)
        if (judgement.isLegal) return
        const end = judgement.misfit.until ?? expect.fail('an operation without a result fits everywhere')
        const earlier = operations.filter(({ until = Infinity }) => until < end)
        expect(hasOrder(earlier)).to.equal(true)
        expect(judgement.states).to.not.include(judgement.misfit.set === undefined ? judgement.misfit.result : NaN)
      }),
    )
  })
})

/** True if one of all orders is right, of the operations with results and any of those without. */
function hasOrder(operations: readonly Operation[]): boolean {
  const isBefore = (one: Operation, other: Operation) =>
    (one.until ?? Infinity) < other.from ||
    (one.client === other.client && operations.indexOf(one) < operations.indexOf(other))
  const isRight = (order: readonly Operation[]) => {
    let value = 0
    return order.every((operation, i) => {
      if (order.slice(i + 1).some(later => isBefore(later, operation))) return false
      if (operation.set === undefined) return operation.result === value
      value = operation.set
      return true
    })
  }
  const lost = operations.filter(({ until }) => until === undefined)
  const known = operations.filter(({ until }) => until !== undefined)
  return subsetsOf(lost).some(some => ordersOf([...known, ...some]).some(isRight))
}

const subsetsOf = <T>([first, ...others]: readonly T[]): T[][] =>
  first === undefined ? [[]] : subsetsOf(others).flatMap(rest => [rest, [first, ...rest]])

const ordersOf = <T>(all: readonly T[]): T[][] =>
  all.length === 0 ? [[]] : all.flatMap((one, i) => ordersOf(all.filter((_, k) => k !== i)).map(rest => [one, ...rest]))
