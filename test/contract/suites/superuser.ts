// A superuser may do everything, whatever the ACLs say.
import { expect } from 'chai'
import { aclOf, digest, perms } from '../../../src/index.ts'
import { failureOf } from '../../support/settled.ts'
import { suite } from '../suite.ts'

/** The password of the superuser, and what the server must be configured with. */
const password = 'root of all'
export const superDigest = digest('super', password)

export const superuser = suite('a superuser:', it => {
  it('may do everything, even if an ACL grants nothing', async world => {
    const { zk } = world
    const closed = [aclOf('digest', digest('nobody', 'knows'), perms.all)]
    await zk.create('/closed')
    await zk.create('/closed/child')
    await zk.setACL('/closed', closed)
    expect(await failureOf(zk.getData('/closed'))).to.include({ code: 'NOAUTH' })
    await zk.addAuth('digest', `super:${password}`)
    await zk.setData('/closed', 'x')
    expect((await zk.getACL('/closed')).acl, 'with the digest').to.deep.equal(closed)
    await zk.delete('/closed/child')
    await zk.setACL('/closed', [aclOf('world', 'anyone')])
  })

  it('has the identity super besides its digest', async ({ zk }) => {
    await zk.addAuth('digest', `super:${password}`)
    expect(await zk.whoAmI()).to.have.deep.members([
      { authScheme: 'ip', user: '127.0.0.1' },
      { authScheme: 'super', user: '' },
      { authScheme: 'digest', user: 'super' },
    ])
  })

  it('gets into an ACL of the scheme auth by its digest only', async ({ zk }) => {
    await zk.addAuth('digest', `super:${password}`)
    await zk.create('/a', '', { acl: [aclOf('auth', '')] })
    expect((await zk.getACL('/a')).acl).to.deep.equal([aclOf('digest', superDigest)])
  })

  it('is notified of a node that it may read as superuser only', async world => {
    const { zk } = world
    const other = await world.client()
    await zk.addAuth('digest', `super:${password}`)
    await other.addAuth('digest', 'ann:secret')
    let notify: (type: string) => void = () => undefined
    const changed = new Promise<string>(resolve => (notify = resolve))
    await zk.exists('/secret', { watch: ({ type }) => notify(type) })
    await other.create('/secret', '', { acl: [aclOf('digest', digest('ann', 'secret'))] })
    expect(await changed).to.equal('NodeCreated')
  })

  it('is not recognized with a wrong password, and its scheme is not for ACLs', async ({ zk }) => {
    await zk.create('/closed', '', { acl: [aclOf('digest', digest('nobody', 'knows'))] })
    await zk.addAuth('digest', 'super:wrong')
    expect(await failureOf(zk.getData('/closed'))).to.include({ code: 'NOAUTH' })
    expect(await failureOf(zk.create('/a', '', { acl: [aclOf('super', '')] }))).to.include({ code: 'INVALIDACL' })
    expect(await failureOf(zk.addAuth('super', ''))).to.be.instanceOf(Error)
  })
})
