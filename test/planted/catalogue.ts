// All planted bugs. A file of the folder bugs/ holds those of one area of src.
import { life } from './bugs/life.ts'
import { queue } from './bugs/queue.ts'
import { watches } from './bugs/watches.ts'
import type { PlantedBug } from './planted-bug.ts'

export const catalogue: readonly PlantedBug[] = [...life, ...watches, ...queue]
