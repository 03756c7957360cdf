import type { z } from 'zod'
import type { PageName, ViewOf } from '../pages/pages.ts'
import type { Json } from '../pages/shapes/shape.ts'
import { jsonResponse } from '../protocol/endpoints/responses/responses.ts'
import type { Endpoint } from '../protocol/plug-ins.ts'
import type { Notice } from '../protocol/short-lived.ts'
import { showNotice } from './notice.ts'
import { type Refused, renderSettings, type SettingsPage, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'

/** A resource of the account application: a page for browsers, and the same content as JSON for scripts. */
export interface Resource<Name extends PageName, Shape extends z.ZodType>
  extends Omit<SettingsPage, 'show' | 'isShown'> {
  /** The name of the page that renders the content. */
  readonly page: Name
  /** The shape of the content. */
  readonly view: Shape
  /** Reads the content. @param refused the form that was refused; undefined for a GET request */
  readonly read: (request: SettingsRequest, refused?: Refused) => Promise<Found<Name, Shape>>
}

/** What a resource has read. */
export type Found<Name extends PageName, Shape extends z.ZodType> = {
  /** The content: the JSON that scripts receive, and that the page renders. */
  readonly view: Json<Shape>
} & (keyof PageOnly<Name, Shape> extends never
  ? { readonly forPage?: undefined }
  : {
      /** Returns the values that only the page shows, such as the submitted values of a refused form. */
      readonly forPage: (notice: Notice) => PageOnly<Name, Shape> | Promise<PageOnly<Name, Shape>>
    })

type PageOnly<Name extends PageName, Shape extends z.ZodType> = Omit<
  ViewOf<Name>,
  keyof Json<Shape>
>

/** Creates the endpoint of a resource. Its `show` also shows the resource for forms with another path. */
export const resource = <Name extends PageName, Shape extends z.ZodType>({
  page,
  view: shape,
  read,
  operations,
  ...rest
}: Resource<Name, Shape>): Endpoint & Pick<SettingsPage, 'show'> => {
  const show: SettingsPage['show'] = async (request, refused) => {
    const { view, forPage } = await read(request, refused)
    if (request.asJson) return jsonResponse(view as object).toResponse()
    const notice = await showNotice(request)
    const shown = { ...(view as object), ...(await forPage?.(notice)) } as ViewOf<Name>
    return renderSettings(request, page, shown, notice, refused)
  }
  const described: SettingsPage['operations'] = (server) => {
    const { get, ...others } = operations(server)
    return { ...others, ...(get && { get: { view: shape, ...get } }) }
  }
  return settingsPage({ ...rest, operations: described, show })
}
