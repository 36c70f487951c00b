// With node:test: node --test node.test.js
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { connect } from 'zkwire'
import { Server } from 'zkwire/server'
import { sell } from './stock.js'

describe('the stock', () => {
  let server, zk

  before(async () => {
    server = await Server.start()
    zk = await connect(server.connectString)
  })
  after(async () => {
    await zk.close()
    await server.close()
  })

  it('is sold once, even by several sellers at the same time', async () => {
    await zk.create('/stock', '3')
    const left = await Promise.all([sell(zk, 1), sell(zk, 1), sell(zk, 1)])
    assert.deepEqual(left.sort(), [0, 1, 2])
    await assert.rejects(sell(zk, 1), /0 left/)
  })

  it('is sold if the connection is lost during the sale', async () => {
    await zk.setData('/stock', '3')
    const dropped = server.faults.drop('create') // the lock's node is created, and the reply is lost
    const left = await sell(zk, 1)
    await dropped.triggered
    assert.equal(left, 2)
  })
})
