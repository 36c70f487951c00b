import { expect } from 'chai'
import { measureInTurns } from '../../../bench/processes/turns.ts'
import { failureOf } from '../../support/settled.ts'

/** Returns what opens processes that only write down what they are asked for, in the order of the requests. */
function noted(failing?: string) {
  const notes: string[] = []
  const open = async (name: string) => {
    notes.push(`open ${name}`)
    return Promise.resolve({
      measure: async () => {
        notes.push(name)
        if (name === failing) throw new Error('measured nothing')
        return Promise.resolve({ operations: notes.length, cpu: 1, ms: 1 })
      },
      end: async () => Promise.resolve(notes.push(`end ${name}`)),
    })
  }
  return { notes, open }
}

describe('measurements in turns', () => {
  it('open all processes before the first turn, begin each turn with another one, and end all', async () => {
    const { notes, open } = noted()
    await measureInTurns(['a', 'b', 'c'], 4, open)
    expect(notes.join(' ')).to.equal('open a open b open c a b c b c a c a b a b c end a end b end c')
  })

  it('return the samples of each process in the order of the turns, and show each turn before it', async () => {
    const { notes, open } = noted()
    const samples = await measureInTurns(['a', 'b'], 2, open, (name, turn) => notes.push(`turn ${turn} of ${name}`))
    const counts = [...samples].map(([name, all]) => [name, all.map(({ operations }) => operations)])
    expect(counts).to.deep.equal([
      ['a', [4, 10]],
      ['b', [6, 8]],
    ])
    expect(notes.slice(2, 6)).to.deep.equal(['turn 0 of a', 'a', 'turn 0 of b', 'b'])
  })

  it('end all processes if one fails, also one that was opened later', async () => {
    const { notes, open } = noted('a')
    expect(await failureOf(measureInTurns(['a', 'b'], 2, open))).to.include({ message: 'measured nothing' })
    expect(notes.slice(3)).to.deep.equal(['end a', 'end b'])
  })
})
