// A browser cannot follow an async context. So a lock that would need one says so, and does not wait for itself.

export class AsyncLocalStorage {
  getStore(): undefined {
    return undefined
  }

  run(): never {
    throw new Error('this runtime has no AsyncLocalStorage: name the owner of a ReentrantMutex by the option `owner`')
  }

  enterWith(): never {
    return this.run()
  }
}
