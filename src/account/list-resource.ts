import type { z } from 'zod'
import type { PageName, ViewOf } from '../pages/pages.ts'
import type { ListChoices } from '../pages/parts/lists.ts'
import type { arrangement } from '../pages/shapes/applications.ts'
import type { Json } from '../pages/shapes/shape.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import { type Arrangement, arranged, arrangedQuery, type ReadWindow } from './arranged-list.ts'
import type { PageOperation } from './page-operations.ts'
import { type Found, type Resource, resource } from './resource.ts'
import type { SettingsRequest } from './settings-request.ts'
import { arrangementToWire } from './wire.ts'

/** A resource whose content is one page of a list, which users search, sort and filter. */
export interface ListResource<Shape extends z.ZodType, Summary>
  extends Omit<Resource<PageName, Shape>, 'page' | 'read' | 'operations'>,
    Pick<PageOperation, 'operationId' | 'summary'> {
  readonly page: ListPage<Shape>
  /** Returns how users can search, sort and filter the list. */
  readonly arrangement: (server: ServerContext) => Arrangement<Summary>
  /** Opens the list of the user. */
  readonly list: (request: SettingsRequest) => Promise<List<Shape, Summary>>
}

/** The names of the pages that can render a list of this shape. */
type ListPage<Shape extends z.ZodType> = {
  [Name in PageName]: Json<Shape> & ListChoices extends ViewOf<Name> ? Name : never
}[PageName]

/** A list of a user. */
interface List<Shape extends z.ZodType, Summary> {
  /** Reads the summaries of a window of the list. The server searches, sorts and filters the summaries. */
  readonly summaries: ReadWindow<Summary>
  /** Returns the content of one page of the list: the JSON of the entries with these summaries. */
  readonly entries: (
    summaries: readonly Summary[],
  ) => Promise<Omit<Json<Shape>, keyof Json<typeof arrangement>>>
}

/** Creates the endpoint of a list. */
export const listResource = <Shape extends z.ZodType, Summary>({
  operationId,
  summary,
  arrangement,
  list,
  ...rest
}: ListResource<Shape, Summary>) =>
  resource<PageName, Shape>({
    ...rest,
    operations: (server) => ({
      get: {
        operationId,
        summary,
        answer: 'A page of the list.',
        query: arrangedQuery(arrangement(server)),
      },
    }),
    async read(request) {
      const { summaries, entries } = await list(request)
      const { items, ...choices } = await arranged(request, summaries, arrangement(request.server))
      const view = { ...(await entries(items)), ...arrangementToWire(choices) }
      // `page` accepts only names of pages that render these values.
      const found: unknown = { view, forPage: () => choices }
      return found as Found<PageName, Shape>
    },
  })
