// What most components of the page get.
import type { Playground } from '../model/playground.ts'

export interface Props {
  playground: Playground
}
