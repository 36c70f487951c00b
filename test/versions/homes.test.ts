import { expect } from 'chai'
import { homes } from './homes.ts'

const named = (variables: NodeJS.ProcessEnv) => homes(variables).map(({ name, isRequired }) => [name, isRequired])

describe('the installations to test', () => {
  it('are those that ZOOKEEPER_HOMES names, each of which must be there', async () => {
    const variables = { ZOOKEEPER_HOMES: '/opt/3.4.14:/opt/3.9.5:', ZOOKEEPER_VERSIONS: '3.9.6' }
    expect(named(variables)).to.deep.equal([
      ['Apache ZooKeeper of 3.4.14', true],
      ['Apache ZooKeeper of 3.9.5', true],
    ])
    expect(await homes(variables)[1]?.provide()).to.equal('/opt/3.9.5')
  })

  it('are the versions that ZOOKEEPER_VERSIONS names, each of which must be had', () => {
    expect(named({ ZOOKEEPER_VERSIONS: 'debian,3.9.6' })).to.deep.equal([
      ['Debian’s Apache ZooKeeper', true],
      ['Apache ZooKeeper 3.9.6', true],
    ])
    expect(() => homes({ ZOOKEEPER_VERSIONS: '3.7.0' })).to.throw('take some of debian, 3.4.13, 3.9.3, 3.9.6')
  })

  it('are all that Debian has if none is named; only its own package must be had', () => {
    for (const variables of [{}, { ZOOKEEPER_HOMES: ':', ZOOKEEPER_VERSIONS: '' }])
      expect(named(variables)).to.deep.equal([
        ['Debian’s Apache ZooKeeper', true],
        ['Apache ZooKeeper 3.4.13', false],
        ['Apache ZooKeeper 3.9.3', false],
        ['Apache ZooKeeper 3.9.6', false],
      ])
  })
})
