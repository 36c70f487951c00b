// Plans of faults at exact requests of a client, and at their replies.
import { opcodes } from '../src/protocol/index.ts'

/** The opcode of the requests that a fault counts. `any` counts all but pings. */
export type Counted = number | 'any'

/** A fault at the `countdown`-th such request from now, or at its reply. */
export interface Plan {
  fault: 'dropRequest' | 'holdRequest' | 'dropReply' | 'holdReply' | 'holdEvent'
  opcode: Counted
  countdown: number
  onInjected: () => void
}

/** What plans the faults of connections. Each fault is injected once. */
export class FaultPlans {
  protected readonly plans: Plan[] = []

  /** Cuts the connection instead of sending the k-th such request from now. Resolves when that has happened. */
  dropRequest(opcode: Counted, k = 1): Promise<void> {
    return this.plan('dropRequest', opcode, k)
  }

  /**
   * Sends the k-th such request from now, and cuts the connection instead of delivering its reply. Resolves when that
   * has happened.
   */
  dropReply(opcode: Counted, k = 1): Promise<void> {
    return this.plan('dropReply', opcode, k)
  }

  /**
   * Holds the reply to the k-th such request from now, and all later frames, until they are delivered. Resolves when the
   * reply arrives.
   */
  holdReply(opcode: Counted, k = 1): Promise<void> {
    return this.plan('holdReply', opcode, k)
  }

  protected plan(fault: Plan['fault'], opcode: Counted, countdown: number): Promise<void> {
    return new Promise(onInjected => this.plans.push({ fault, opcode, countdown, onInjected }))
  }
}

/** Counts a request, and removes and returns the plan that is due at it. */
export function takePlan(plans: Plan[], type: number): Plan | undefined {
  const index = plans.findIndex(({ opcode }) => (opcode === 'any' ? type !== opcodes.ping : opcode === type))
  const plan = plans[index]
  if (plan === undefined || --plan.countdown > 0) return undefined
  plans.splice(index, 1)
  return plan
}
