import { expect } from 'chai'
import { ensembleSentences, handOversByRole, rolesOf } from '../../../bench/ensemble/sentences.ts'
import { readDocument } from '../../support/document.ts'
import { figures } from './example-figures.ts'

describe('the findings on an ensemble', () => {
  const text = ensembleSentences(figures).join('\n')

  it('say what is spread over the servers, and what the leader does alone', () => {
    expect(text).to.contain('ON THE SERVERS of the ensemble (1 leader and 2 followers), with 10 sessions:')
    expect(text).to.contain('One change notified 10 sessions: each server notified its own 3 to 4')
    expect(text).to.contain('Of 210 writes, 70 were sent to the leader, and it proposed 210.')
    expect(text).to.contain('A write took 1.00 ms through the leader and 3.00 ms through a follower (median)')
  })

  it('do not name the proposals if the leader does not report them', () => {
    const silent = figures.calls.map(each => ({ ...each, proposals: [0, undefined, 0] }))
    expect(ensembleSentences({ ...figures, calls: silent }).join('\n')).not.to.contain('proposed')
  })

  it('name the fastest and the slowest hand-over by the servers of holder and waiter', () => {
    expect(text).to.contain(
      'took 1.00 ms with both on the leader, and 6.00 ms with the holder on a follower and the waiter on another follower (medians)',
    )
    expect(handOversByRole(figures).map(({ from, to, same, count }) => [from, to, same, count])).to.deep.equal([
      ['leader', 'leader', true, 1],
      ['follower', 'follower', false, 2],
    ])
  })

  it('compare a herd on one member with one on all servers', () => {
    expect(text).to.contain(
      'With all sessions on one follower, one release of the herd lock made it send 10.0 kB, and all traffic took 36.0 ms. On all servers, the busiest sent 4.00 kB, and it took 12.0 ms.',
    )
  })

  it('tell what the loss of the leader did, and stress two holders at once', () => {
    expect(text)
      .to.contain('another one led after 900 ms')
      .and.to.contain('36 of 36 sessions lost their connection, none expired')
    const loss = figures.leaderLoss && { ...figures.leaderLoss, overlapped: true, expired: 2 }
    const bad = ensembleSentences({ ...figures, leaderLoss: loss }).join('\n')
    expect(bad).to.contain('TWO SESSIONS HELD THE LOCK AT ONCE').and.to.contain(', 2 expired,')
  })

  it('say whether the servers counted the same, and how many of them were asked', () => {
    expect(text).to.contain('Each of 2 servers counted the same frames as its clients: 40 together.')
    const { frames } = figures.frameCounts
    const counted = (server: [number, number]) => {
      const frameCounts = { frames: frames.map(each => ({ ...each, server })), agree: undefined }
      return ensembleSentences({ ...figures, frameCounts }).join('\n')
    }
    expect(counted([1000, 500]), 'of servers with other clients').to.match(
      /The servers counted [\d,]+ frames more than the \d+ that these sessions sent and received: those of other clients\./,
    )
    expect(counted([0, 0])).to.match(/The servers counted \d+ frames fewer than the (\d+) that/)
    const differing = { ...figures.frameCounts, agree: false }
    expect(ensembleSentences({ ...figures, frameCounts: differing }).join('\n')).to.contain(
      'THE COUNTS of servers and clients differ',
    )
    expect(text).to.contain('- A remark.')
  })

  it('name unknown roles as such', () => {
    const servers = figures.servers.map(each => ({ ...each, role: 'unknown' as const }))
    expect(rolesOf({ servers })).to.equal('3 servers of unknown role')
  })

  it('are the sentences of the example in bench/README.md, with other figures', () => {
    const [example = ''] = /^ {4}ON THE SERVERS [^]*?\n\n/m.exec(readDocument('bench/README.md')) ?? []
    const [, ...sentences] = ensembleSentences({ ...figures, remarks: [] })
    const beginning = (sentence: string) =>
      sentence
        .replace(/\d[\d.]*/g, 'N')
        .split(/\s+/)
        .slice(0, 7)
        .join(' ')
    const beginnings = (text: string) => text.split(/^ *- /m).slice(1).map(beginning)
    expect(beginnings(example)).to.deep.equal(beginnings(sentences.join('\n')))
  })
})
