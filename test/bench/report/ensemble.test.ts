import { expect } from 'chai'
import { ensembleSection } from '../../../bench/report/ensemble.ts'
import { figures } from '../ensemble/example-figures.ts'

describe('the section of the report on an ensemble', () => {
  const text = ensembleSection(figures).text.replace(/\s+/g, ' ')

  it('has the sentences, and the traffic of each server that had any', () => {
    expect(text).to.contain('Of 210 writes, 70 were sent to the leader, and it proposed 210.')
    expect(text).to.contain('<td class="text">one follower</td><td class="text">follower 1</td><td>10</td>')
    expect(text).not.to.contain('<td class="text">one follower</td><td class="text">leader 2</td>')
  })

  it('draws the notifications by server', () => {
    expect(text).to.contain('sessions on all servers. follower 1: 4; leader 2: 3; follower 3: 3')
  })

  it('shows which servers reported no counts', () => {
    expect(text).to.contain('<td class="text">zk3:2181</td><td class="text">none</td><td>5</td><td>5</td><td>–</td>')
  })

  it('is empty without an ensemble', () => expect(ensembleSection(undefined).text).to.equal(''))
})
