// A program that users may write: it uses sessions, locks, errors and the embedded server of the package.

const names = {
  zkwire: 'connect, ZooKeeperError',
  'zkwire/recipes': 'RecipeError, Mutex',
  'zkwire/server': 'Server',
}
const imports = Object.entries(names)

/** The first lines of the program, as an ES module or as a CommonJS module. */
export const header = {
  import: imports.map(([module, each]) => `import { ${each} } from '${module}'\n`).join(''),
  require: imports.map(([module, each]) => `const { ${each} } = require('${module}')\n`).join(''),
}

/** Defines `use()`, which resolves with {@link expected}. It is valid in JavaScript and in TypeScript. */
export const body = `
async function use() {
  const server = await Server.start()
  const zk = await connect(server.connectString)
  await zk.create('/a', 'text')
  const { data } = await zk.getData('/a')
  const failed = await Promise.allSettled([
    zk.create('/a'),
    zk.create('/b', new Uint8Array(2 ** 20)),
    zk.create('/c', '', { acl: [] }),
  ])
  const codes = failed.map(each =>
    each.status === 'rejected' && each.reason instanceof ZooKeeperError ? each.reason.code : each.status)
  const mutex = new Mutex(zk, '/lock')
  const held = await mutex.acquire()
  const [late] = await Promise.allSettled([mutex.acquire({ timeout: 10 })])
  await held.release()
  const token = await mutex.use(({ token }) => token > held.token)
  await zk.close()
  await server.close()
  const isBytes = data instanceof Uint8Array && Buffer.isBuffer(data)
  return [isBytes, String(data), ...codes, late?.status === 'rejected' && late.reason instanceof RecipeError && late.reason.code, token].join()
}
`
export const expected = 'true,text,NODEEXISTS,REQUESTTOOLARGE,BADARGUMENTS,TIMEOUT,true'

/** Prints what `use()` resolves with. */
export const call = 'use().then(console.log)\n'
