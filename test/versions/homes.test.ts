import { expect } from 'chai'
import { homes } from './homes.ts'

describe('the installations to test', () => {
  it('are those that ZOOKEEPER_HOMES names', () => {
    expect(homes('/opt/3.4.14:/opt/3.9.5:')).to.deep.equal([
      { name: 'Apache ZooKeeper of 3.4.14', home: '/opt/3.4.14' },
      { name: 'Apache ZooKeeper of 3.9.5', home: '/opt/3.9.5' },
    ])
  })

  it('are Debian’s alone if it names none, and the titles of the tests say so', () => {
    for (const variable of [undefined, '', ':']) {
      const [only, ...others] = homes(variable)
      expect(others).to.deep.equal([])
      expect(only?.home).to.equal(undefined)
      expect(only?.name).to.contain('alone, because ZOOKEEPER_HOMES')
    }
  })
})
