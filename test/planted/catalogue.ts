// All planted bugs. A file of the folder bugs/ holds those of one area.
import { locks } from './bugs/locks.ts'
import { queue } from './bugs/queue.ts'
import { recipes } from './bugs/recipes.ts'
import { races } from './bugs/races.ts'
import { requests } from './bugs/requests.ts'
import { rest } from './bugs/rest.ts'
import { server } from './bugs/server.ts'
import { session } from './bugs/session.ts'
import type { PlantedBug } from './planted-bug.ts'

export const catalogue: readonly PlantedBug[] = [session, requests, rest, races, queue, locks, recipes, server].flat()
