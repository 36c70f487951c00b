// Keeps what releases cost, in all scenarios since the page was opened.
import type { Picture } from '../../world/picture.ts'
import type { Scenario } from '../../world/story.ts'
import { costsOf, type Cost } from './costs.ts'
import { costOfRelease, SIZES } from './measure.ts'

export class CostBook {
  readonly #costs = new Map<string, Cost>()
  #isMeasuring = false

  get all(): readonly Cost[] {
    return [...this.#costs.values()]
  }

  /** True while {@link measure} tries releases. */
  get isMeasuring(): boolean {
    return this.#isMeasuring
  }

  /** Keeps the costs of the releases in a picture. */
  note(picture: Picture, isQuiet: boolean): void {
    this.#keep(costsOf(picture, isQuiet))
  }

  /** Tries one release of the recipe with each number of clients, in worlds that are not shown. */
  async measure(scenario: Scenario, onPoint: () => void): Promise<void> {
    this.#isMeasuring = true
    try {
      for (const clients of SIZES) {
        this.#keep(await costOfRelease({ ...scenario, clients }))
        onPoint()
      }
    } finally {
      this.#isMeasuring = false
    }
  }

  #keep(costs: readonly Cost[]): void {
    for (const cost of costs) this.#costs.set(cost.id, cost)
  }
}
