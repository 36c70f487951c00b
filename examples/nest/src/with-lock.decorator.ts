// A decorator: the method runs while a lock is held, by one instance of the service at a time.
import type { Sessions, UseOptions } from 'zkwire'
import { Mutex, type Held } from 'zkwire/recipes'

/** What the class of the method has. */
interface HasSessions {
  readonly sessions: Sessions
}

type Method<A extends unknown[], T> = (this: HasSessions, ...args: [...args: A, held?: Held]) => Promise<T>

/**
 * Runs the method while the lock is held. The method gets the lock as one more argument.
 * @param pathOf returns the path of the lock, from the arguments of the call
 * @param options how long the call may wait for the lock
 */
export const WithLock =
  <A extends unknown[]>(pathOf: (...args: A) => string, options: UseOptions = {}) =>
  <T>(_target: object, _name: string, descriptor: TypedPropertyDescriptor<Method<A, T>>): void => {
    const method = descriptor.value
    if (method === undefined) throw new Error('@WithLock() is for methods')
    descriptor.value = function (...given) {
      const args = given as unknown as A
      return this.sessions.withLock(
        zk => new Mutex(zk, pathOf(...args)),
        options,
        held => method.call(this, ...args, held),
      )
    }
  }
