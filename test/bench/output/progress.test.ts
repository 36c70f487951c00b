import { expect } from 'chai'
import { Progress } from '../../../bench/output/progress.ts'

describe('the progress of the benchmark', () => {
  it('is shown on a terminal with the remaining time, in one line that is removed at the end', () => {
    const { progress, written, at } = onScreen({ isTTY: true, columns: 80 })
    progress.show('starting')
    progress.endsAt(30_000)
    at(500)
    progress.show('herd, 10 contenders')
    progress.clear()
    progress.clear()
    expect(written).to.deep.equal([
      '\r\u001b[Kstarting',
      '\r\u001b[Kherd, 10 contenders · at most 30 s left',
      '\r\u001b[K',
    ])
  })

  it('is limited in frequency, and to the width of the terminal', () => {
    const { progress, written, at } = onScreen({ isTTY: true, columns: 10 })
    progress.show('one')
    at(99)
    progress.show('two')
    at(100)
    progress.show('three is a crowd')
    progress.clear()
    progress.show('four')
    const removed = '\r\u001b[K'
    expect(written, 'at once after the line was removed').to.deep.equal([
      '\r\u001b[Kone',
      '\r\u001b[Kthree is ',
      removed,
      '\r\u001b[Kfour',
    ])
  })

  it('is not shown without a terminal', () => {
    const { progress, written } = onScreen({})
    progress.show('one')
    progress.clear()
    expect(written).to.deep.equal([])
  })
})

function onScreen(terminal: { isTTY?: boolean; columns?: number }) {
  const written: string[] = []
  let now = 0
  const progress = new Progress({ ...terminal, write: text => written.push(text) }, () => now)
  return { progress, written, at: (time: number) => (now = time) }
}
