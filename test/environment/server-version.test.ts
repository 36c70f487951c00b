import { expect } from 'chai'
import { hasChange, isAtLeast, versionIn } from '../../environment/server-version.ts'

describe('a version of Apache ZooKeeper', () => {
  it('is read from the reply to srvr', () => {
    expect(versionIn('Zookeeper version: 3.10.0-SNAPSHOT-53a78e36, built on 2026-07-17\nMode: standalone')).to.equal(
      '3.10.0',
    )
    expect(() => versionIn('This ZooKeeper instance is not currently serving requests')).to.throw('no version')
  })

  it('is compared number by number', () => {
    expect(['3.9.5', '3.10.0', '3.10', '4.0.0'].map(version => isAtLeast(version, '3.10.0'))).to.deep.equal([
      ...[false, true, true, true],
    ])
  })

  it('has a change from the first version of its branch on that has it, and in all later branches', () => {
    const versions = ['3.6.4', '3.7.1', '3.7.2', '3.8.1', '3.8.2', '3.9.0', '3.10.0']
    expect(versions.filter(version => hasChange(version, '3.7.2', '3.8.2', '3.9.0'))).to.deep.equal([
      ...['3.7.2', '3.8.2', '3.9.0', '3.10.0'],
    ])
  })
})
