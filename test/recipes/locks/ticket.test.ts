import { expect } from 'chai'
import fc from 'fast-check'
import { onDrawn, onGone, onListed, releasedAs, releasedIn, ticketName } from '../../../src/recipes/locks/ticket.ts'
import { rules, TicketModel, type TicketRules } from './ticket-model.ts'

describe('a ticket', () => {
  describe('in a world of sessions that see late, die and give up, and of outsiders', () => {
    const histories = (ruling: TicketRules) =>
      fc.property(
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 150, size: 'max' }),
        (sizes, choices) => {
          const world = new TicketModel(sizes, ruling)
          for (const choice of choices) world.runOneEvent(choice)
          world.drain()
        },
      )

    it('lets in nobody behind another who stands, wakes everybody in the end, and needs no list behind a release', () => {
      fc.assert(histories(rules), { numRuns: 3000 })
    })

    const { onDrawn, onGone, onListed } = rules
    const bugs: Record<string, Partial<TicketRules>> = {
      'a wake-up is a grant': { onGone: () => ({ do: 'hold' }) },
      'a wake-up is a grant of one whose node is there': {
        onGone: (_, { isOurs }) => ({ do: isOurs ? 'hold' : 'draw' }),
      },
      'a ticket is held when the one before it is gone': {
        onDrawn: (own, { isOurs }) => onDrawn(own, { isOurs, released: own - 1 }),
      },
      'nobody looks for his own node when woken': { onGone: (gone, seen) => onGone(gone, { ...seen, isOurs: true }) },
      'nobody minds which directory he drew from': { onDrawn: (own, seen) => onDrawn(own, { ...seen, isOurs: true }) },
      'nobody minds which directory he lists': { onListed: (own, seen) => onListed(own, { ...seen, isOurs: true }) },
      'a released ticket says nothing': { onGone: (gone, { isOurs }) => onGone(gone, { isOurs }) },
      'the directory is written behind the delete': { releasesAtomically: false },
    }
    for (const [bug, mutation] of Object.entries(bugs))
      it(`is seen to fail where ${bug}`, () => {
        // Found in a fraction of these; the seed is fixed, so that it is found each time.
        const { failed, counterexample } = fc.check(histories({ ...rules, ...mutation }), {
          numRuns: 30_000,
          seed: 4,
          endOnFailure: true,
        })
        expect(failed, JSON.stringify(counterexample)).to.equal(true)
      })
  })

  it('is the first of its directory, or behind one that was given back', () => {
    expect(onDrawn(0, { isOurs: true })).to.deep.equal({ do: 'hold' })
    expect(onDrawn(5, { isOurs: true, released: 4 })).to.deep.equal({ do: 'hold' })
    expect(onDrawn(5, { isOurs: true, released: 3 })).to.deep.equal({ do: 'watch', ticket: 4 })
    expect(onDrawn(5, { isOurs: false, released: 4 })).to.deep.equal({ do: 'draw' })
  })

  it('is told by the directory’s data alone, whatever others write there', () => {
    expect(releasedIn(Buffer.from(releasedAs(41)))).to.equal(41)
    for (const text of ['', 'hello', '41', '-000000041', '00000000041', '0000000041\n', ' 000000041', '٠٠٠٠٠٠٠٠٠٠'])
      expect(releasedIn(Buffer.from(text)), text).to.equal(undefined)
    expect(releasedIn(null)).to.equal(undefined)
  })

  it('that is gone without being given back says nothing of those before it', () => {
    expect(onGone(4, { isOurs: true, released: 3 })).to.deep.equal({ do: 'list' })
    expect(onGone(4, { isOurs: true, released: 4 })).to.deep.equal({ do: 'hold' })
    expect(onGone(4, { isOurs: false, released: 4 })).to.deep.equal({ do: 'draw' })
  })

  it('waits for the nearest before it in a list, foreign names among them', () => {
    const children = ['hello', ticketName(9), ticketName(3), 't-1', ticketName(7), '_c_x-lock-0000000004']
    expect(onListed(7, { isOurs: true, children })).to.deep.equal({ do: 'watch', ticket: 3 })
    expect(onListed(3, { isOurs: true, children })).to.deep.equal({ do: 'hold' })
    expect(onListed(3, { isOurs: false, children })).to.deep.equal({ do: 'draw' })
    expect(onListed(5, { isOurs: true, children })).to.deep.equal({ do: 'draw' })
  })
})
