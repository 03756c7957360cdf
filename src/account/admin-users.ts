import type { z } from 'zod'
import { shownEmail } from '../model/email-address.ts'
import type { User } from '../model/user.ts'
import { userIdIn } from '../model/user-id.ts'
import { addresses } from '../pages/addresses.ts'
import type { UserItem } from '../pages/models/admin-users.ts'
import { userSearch, users as usersShape } from '../pages/shapes/users.ts'
import { inQuery } from '../protocol/openapi/schema.ts'
import type { Ui } from '../protocol/server-context.ts'
import { checkAdmin } from './admin.ts'
import { cursorOf, listed } from './list-page.ts'
import { after } from './page-operations.ts'
import { searched, searchedIn } from './search.ts'
import { respond, settingsPage } from './settings-page.ts'
import { userToWire } from './wire.ts'

/** Converts a user for display. */
export const userItem = (user: User, ui: Ui): UserItem => ({
  href: addresses(ui.links).adminUser(user.id),
  id: String(user.id),
  name: shownEmail(user.email) || String(user.id),
  isActive: user.active,
  isAdmin: user.isAdmin,
  isVerified: user.emailVerified,
})

/** Lists and finds users for administrators. */
export const adminUsersPage = settingsPage({
  path: ({ adminPrefix }) => `${adminPrefix}/users/`,
  operations: () => ({
    get: {
      operationId: 'listUsers',
      summary: 'Lists and finds users for administrators',
      answer: 'The first or the requested page of the list.',
      view: usersShape,
      query: [inQuery('user', 'The beginning of an e-mail address, or an ID.'), after('after')],
    },
    post: {
      operationId: 'searchUsers',
      summary: 'Redirects the search form of the page; scripts search with a GET request',
    },
  }),
  async show(request, refused) {
    checkAdmin(request)
    const { server } = request
    const search = searchedIn(request, 'user')
    const found = await server.users.search(search, cursorOf(request, 'after'))
    const users = listed(request, 'after', found, (user) => userItem(user, server.ui))
    const view = {
      action: server.ui.links.adminUsers,
      search,
      isSearchable: server.users.canSearch,
      users,
      problem: refused?.problem,
    }
    const json = (): z.output<typeof usersShape> => ({
      users: found.items.map(userToWire),
      is_searchable: view.isSearchable,
      next: users.next,
    })
    return respond(request, 'adminUsers', { view, json, refused })
  },
  form: userSearch,
  async change(request, params) {
    checkAdmin(request)
    const { server } = request
    return searched(request, params, {
      names: ['user'],
      location: (fields) => `${server.ui.links.adminUsers}${fields.size === 0 ? '' : `?${fields}`}`,
      isKnown: async (text) => {
        const id = userIdIn(text, server.users.keyType)
        return id !== undefined && (await server.users.find(id)) !== undefined
      },
    })
  },
})
