// The script of every page: the search, the scenes, and the contents that show where the reader is.
// May import: site/pages/search-fields.ts, site/pages/search-index.ts, minisearch.
import { markWhereTheReaderIs } from './contents.ts'
import { playScenes } from './scenes.ts'
import { offerSearch } from './search.ts'

const button = document.querySelector<HTMLButtonElement>('.search-button')
if (button !== null) offerSearch(button)
markWhereTheReaderIs()
playScenes()
