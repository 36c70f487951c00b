// With vitest: npx vitest run vitest.test.js
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from 'zkwire'
import { Server } from 'zkwire/server'
import { sell } from './stock.js'

describe('the stock', () => {
  let server, zk

  beforeAll(async () => {
    server = await Server.start()
    zk = await connect(server.connectString)
  })
  afterAll(async () => {
    await zk.close()
    await server.close()
  })

  it('is sold once, even by several sellers at the same time', async () => {
    await zk.create('/stock', '3')
    const left = await Promise.all([sell(zk, 1), sell(zk, 1), sell(zk, 1)])
    expect(left.sort()).toEqual([0, 1, 2])
    await expect(sell(zk, 1)).rejects.toThrow('0 left')
  })

  it('is sold if the connection is lost during the sale', async () => {
    await zk.setData('/stock', '3')
    const dropped = server.faults.drop('create') // the lock's node is created, and the reply is lost
    const left = await sell(zk, 1)
    await dropped.triggered
    expect(left).toBe(2)
  })
})
