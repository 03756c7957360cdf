import { builtInScopes } from '../../model/openid-scopes.ts'
import { emailScope } from '../../model/scope.ts'
import type { Text } from './message-format.ts'

/**
 * Every text of the pages in English, in the format ICU MessageFormat. The texts of the other languages are in
 * `locales/`.
 */
export const en = {
  frame: {
    skip: 'Skip to the content',
    navigation: 'Account',
    applications: 'Applications',
    tokens: 'Tokens',
    clients: 'My applications',
    authorized: 'Allowed applications',
    sessions: 'Sessions',
    activity: 'Activity',
    leaked: 'Leaked secret',
    admin: 'Administration',
    logout: 'Log out',
    copy: 'Copy',
    copied: 'Copied',
    next: 'Next page',
    previous: 'Previous page',
    first: 'First page',
    pages: 'Pages',
    save: 'Save changes',
    cancel: 'Cancel',
    /** The title of a page with an error. */
    error: 'Error: {title}',
    saveAnyway: 'Save anyway',
    confirmLosses: 'Nothing has been saved yet. If you save these changes:',
    conflict:
      'This was changed in another window while you edited it, so nothing was saved. Your version is still in the form. If you save it, it replaces the other version:',
    savedVersion: 'Saved meanwhile',
    yourVersion: 'Your version',
    correct: 'Please correct the following:',
    /** Prefixes the problem of one line of a field. */
    line: 'Line {line}: {sentence}',
    kept: 'I have copied it',
  },
  /** Words that several pages use. */
  facts: {
    clientId: 'Client ID',
    clientSecret: 'Client secret',
    type: 'Type',
    confidential: 'Confidential',
    public: 'Public',
    verified: 'Verified',
    disabled: 'Disabled',
    selfRegistered: 'Registered itself',
    selfDescribed: 'Describes itself',
    pinned: 'Document pinned',
    expired: 'Expired',
    created: 'Created',
    users: 'Users',
    /** `count` is a number, or a text with a number such as `1,000 devices`. */
    moreThan: 'more than {count}',
    expires: 'Expires',
    never: 'Never',
    /** `time` is relative, such as "in 5 days". */
    expiresSoon: 'Expires {time}',
    /** `end` is the last characters of a token. */
    endsWith: 'ends with {end}',
    lastUsed: 'Last used',
    neverUsed: 'Not used yet',
    /** `address` is an IP address. */
    from: 'from {address}',
    owner: 'Registered by',
    nobody: 'Nobody',
    website: 'Website',
    since: 'Allowed since',
    permissions: 'Permissions',
    noPermissions: 'None: it only identifies you',
    read: 'Read only',
    write: 'Can change',
    highRisk: 'High risk',
    otherGroup: 'Other',
    unknownBrowser: 'Unknown browser or program',
    words: 'What {name} says about itself:',
  },
  login: {
    title: 'Log in',
    continueTo: '{client} asks for access to your account. You decide after you have logged in.',
    email: 'E-mail address',
    password: 'Password',
    submit: 'Log in',
    wrong: 'The e-mail address or the password is wrong.',
    tooMany: 'Too many wrong passwords were entered. Try again in ten minutes.',
    stale:
      'This page is out of date, for instance because you logged in or out in another window. Please try again.',
    noCookie: 'Your browser sent no cookie. Allow cookies for this site, and try again.',
    foreign: 'This form was sent from another site. Please log in here.',
    loggedOut:
      'You were logged out before this was saved. Log in: the form still contains what you entered.',
    dropsCookies:
      'Safari cannot log in at an address that begins with http://. Use another browser, such as Firefox or Chrome, or open this site over https.',
    expired: 'Your session has expired. Log in again to continue.',
  },
  home: {
    title: 'Start page',
    nobody: 'Nobody is logged in.',
    user: 'You are logged in as',
    login: 'Log in',
    applications: 'Applications and personal tokens',
    aboutApplications:
      'Register applications, create tokens for your own programs, and see which applications have access to your account.',
    sessions: 'Sessions',
    aboutSessions: 'See where you are logged in, and log out other browsers.',
    admin: 'Administration',
    aboutAdmin: 'Manage all applications and tokens.',
  },
  consent: {
    title: 'Allow {client}?',
    asks: '{client} wants to access your account. It requests permission to:',
    nothing: '{client} wants to know who you are. It requests no other permission.',
    asksMore: '{client} already has access to your account. It now also requests permission to:',
    asksAgain: '{client} asks again for what you have already allowed:',
    allowedBefore: 'You have already allowed:',
    optional: 'Untick anything that you do not want to allow.',
    user: 'You are logged in as',
    otherAccount: 'Not you? Use another account',
    owner: 'Registered by',
    website: 'Website',
    destination: 'You will be sent to',
    local: 'a program on this computer',
    unverified: '{brand} has not verified this application. Allow it only if you know who made it.',
    selfRegistered:
      'This application registered itself. {brand} has not verified it: its name and description may be false. Allow it only if you know who made it.',
    selfDescribed:
      'This application describes itself at {host}. Its name and description are not verified and may be false. Allow it only if you trust that site.',
    localCaution:
      'If you allow it, a program on this computer gets access. Any program can claim to be this application, so allow it only if you have just started it yourself.',
    terms: 'Terms of use',
    privacy: 'Privacy policy',
    mixesAlphabets:
      'The name contains letters that look like letters of another alphabet. Make sure that you know this application.',
    lasting:
      'If you allow this application, it has access until you revoke the access under Allowed applications.',
    accept: 'Allow',
    undecided: 'Neither Allow nor Refuse was chosen. Choose one of them.',
    refuse: 'Refuse',
  },
  device: {
    title: 'Connect a device',
    about: 'Your device or program shows a code. Enter it here.',
    code: 'Code',
    codeHint: 'Eight letters, such as WDJB-MJHT, in upper or lower case.',
    submit: 'Continue',
    wrong: 'This code is not valid. It may be mistyped, expired or already used.',
    tooMany: 'Too many wrong codes were entered. Get a new code on your device in ten minutes.',
    warning:
      'Allow this only if you have just started it yourself on your own device. If somebody sent you this code or a link, refuse: they would get access to your account.',
    shows: 'Your device must show this code:',
    allowedTitle: 'Allowed',
    allowed: '{client} can access your account now.',
    goBack: 'Go back to your device. It continues in a few seconds.',
    refusedTitle: 'Refused',
    refused: '{client} cannot access your account.',
    close: 'You can close this page.',
  },
  applications: {
    title: 'Applications',
    clients: {
      title: 'My applications',
      about:
        'Applications that you registered. They can ask you and other people for access to their accounts.',
      none: 'You have not registered any application yet.',
      invite:
        'Register an application so that people can log in to your site or program with their account here.',
      create: 'Register an application',
    },
    tokens: {
      title: 'My personal tokens',
      about:
        'Keys for your own scripts and programs. Each token gives access to your account, with the permissions that you chose.',
      none: 'You have no personal tokens yet.',
      invite:
        'Create a token to use the API from a script, from the command line or from another program.',
      create: 'Create a token',
      delete: 'Delete',
      deleteNamed: 'Delete {name}',
      deleteSelected: 'Delete selected tokens',
      deleteSome: '{count, plural, one {Delete # token?} other {Delete # tokens?}}',
    },
    authorized: {
      title: 'Applications that I allowed',
      about:
        'Applications that have access to your account. You can revoke the access at any time.',
      none: 'You have not given any application access to your account.',
      invite:
        'When you log in to another site or program with your account here, you will find it in this list.',
      devices: '{count, plural, one {# device} other {# devices}}',
      moreDevices: '{count, plural, one {and # more device} other {and # more devices}}',
      revoke: 'Revoke',
      /** The label of a button for screen readers. */
      revokeNamed: 'Revoke {name}',
      revokeSelected: 'Revoke selected applications',
      revokeSome: '{count, plural, one {Revoke # application?} other {Revoke # applications?}}',
      revokeSomeAbout:
        'These applications lose access to your account, on all devices, and have to ask you again. This cannot be undone.',
      revokeAll: 'Revoke all applications',
      revokeAllAbout:
        'All applications lose access to your account, on all devices. Your personal tokens remain valid.',
    },
  },
  /** The search, the order and the filters of a list, and actions on several of its entries. */
  list: {
    search: 'Search',
    searchHint: 'A part of the name',
    order: 'Order',
    orders: {
      newest: 'Newest first',
      oldest: 'Oldest first',
      name: 'By name',
      expires: 'Expiring first',
      used: 'Recently used first',
      unused: 'Longest unused first',
    },
    filter: 'Show',
    filters: {
      never_used: 'Never used',
      expiring: 'Expiring within a week',
      expired: 'Expired',
      no_expiry: 'Without expiry',
      confidential: 'Confidential',
      public: 'Public',
      verified: 'Verified',
      disabled: 'Disabled',
      unverified: 'Not verified',
      unused: 'Without tokens',
      self_registered: 'Registered themselves',
    },
    everything: 'Everything',
    kind: 'Kind',
    anyKind: 'Any kind',
    kinds: {
      personal: 'Personal tokens',
      access: 'Access tokens only',
      refresh: 'With a refresh token',
    },
    scope: 'Permission',
    anyScope: 'Any permission',
    apply: 'Apply',
    clear: 'Show everything',
    entries: '{count, plural, one {# entry} other {# entries}}',
    /** `found` and `all` are numbers. */
    found: '{found} of {all}',
    partial:
      'This list is long, so 1,000 entries at a time are searched and sorted. The next page continues with the other entries.',
    nothing: 'Nothing was found.',
    nothingYet:
      'Nothing was found in these entries. The next page continues with the older entries.',
    showAll: 'Show all',
    select: 'Select {name}',
    selectedNone: 'Select at least one entry of the list.',
    undo: 'Undo',
  },
  client: {
    newTitle: 'Register an application',
    newAbout:
      'A registered application can ask people for access to their accounts. It has a client ID.',
    create: 'Register the application',
    name: 'Name',
    nameHint: 'People see this name when your application asks for permission.',
    description: 'Description',
    descriptionHint: 'Optional. What your application does, and why it needs permission.',
    website: 'Website',
    websiteHint: 'Optional. A page with more information; the address must begin with https://',
    logoHint:
      'Optional. The https:// address of a PNG, JPEG, WebP or GIF image with at most 1024 × 1024 pixels and 100 KB. People see it after an administrator has verified your application.',
    redirectUris: 'Redirect URIs',
    redirectUrisHint:
      'One per line. People return to one of these addresses after their decision. Enter the exact address, which must begin with https:// (or http:// on your own computer).',
    logoutFields: 'Logout (OpenID Connect)',
    postLogoutRedirectUris: 'Post-logout redirect URIs',
    postLogoutRedirectUrisHint:
      'Optional, one per line. People return to one of these addresses after a logout that your application requested.',
    backchannelLogoutUri: 'Back-channel logout URI',
    backchannelLogoutUriHint:
      'Optional. This server sends a logout token to this address when the login of a person ends.',
    type: 'Type',
    confidentialHint: 'It runs on your server and can keep a secret, such as a web application.',
    publicHint:
      'It runs on other people’s devices and cannot keep a secret, such as a phone or desktop app, or a page without a server.',
    defaultScopes: 'Default permissions',
    defaultScopesHint:
      'The permissions that your application requests if its request lists none. With client_credentials, without a user, your application can get only the default permissions.',
    optionalScopes: 'Optional permissions',
    optionalScopesHint:
      'People can untick these permissions and still allow the other permissions.',
    /** The consequences of saving a change. */
    losses: {
      verification: 'The verification ends. An administrator has to verify the application again.',
      secret: 'The client secret becomes invalid.',
      tokens: 'All tokens of the application become invalid, and people have to allow it again.',
    },
    credentials: 'Credentials',
    secretKept:
      'The secret was shown only once, when it was created. If you lost it, create a new secret below.',
    secretOnce: 'Copy the client secret now. It is not shown again.',
    previousSecret: 'The former secret is valid until {time}.',
    secretLeaked:
      'The client secret was found in a public place, and was revoked on {time}. Create a new secret below.',
    disabledAbout:
      'An administrator disabled this application. The application and its tokens are refused until it is enabled again.',
    tryIt: 'Try it',
    tryItStart: 'Start the flow, as your application would',
    tryItAbout:
      'This opens the consent page. You are then sent to your redirect URI, with a code in the address.',
    tryItCurl:
      'Within a minute, exchange the code for an access token. Replace CODE with the code:',
    tryItCurlSecret:
      'Within a minute, exchange the code for an access token. Replace CODE with the code, and SECRET with the client secret:',
    settings: 'Settings',
    reset: 'New client secret',
    resetAbout: 'Create a new secret if the secret is lost, or may be known to others.',
    overlap: 'Keep the old secret valid for',
    overlapHint: 'During this time, you can replace the old secret in your application.',
    resetSubmit: 'Create a new secret',
    delete: 'Delete this application',
    deleteAbout:
      'All tokens of the application become invalid immediately. If you register the application again, people have to allow it again. This cannot be undone.',
    confirmName: 'To confirm, type the name of the application: {name}',
    deleteSubmit: 'Delete the application',
    kindLegend: 'Kind of application',
    grants: 'Grants',
    endpoints: 'Endpoints',
    endpointsAbout: 'A client that reads the metadata finds the other addresses there.',
    newTab: 'Opens in a new tab.',
    tryMachine: 'Request an access token for the application itself:',
    tryMachineSecret:
      'Request an access token for the application itself. Replace SECRET with the client secret:',
    refusals: 'Last refusals',
    refusalsAbout:
      'Requests with the client ID of this application that were refused in the last seven days, latest first. Anyone who knows the client ID can cause an entry.',
    /** The kinds of applications that a user can register. */
    kinds: {
      web: {
        name: 'Web application',
        about: 'It runs on your server and keeps a secret. People allow it in their browser.',
      },
      spa: {
        name: 'Single-page application',
        about: 'It runs in the browser alone, so it has no secret. It uses PKCE.',
      },
      native: {
        name: 'Native application',
        about:
          'It runs on a phone, on a computer or on the command line, so it has no secret. It uses PKCE, or shows a code on devices without a browser.',
      },
      machine: {
        name: 'Machine',
        about:
          'A program on your server that acts for itself, without other people. It needs no redirect URI.',
      },
    },
  },
  token: {
    newTitle: 'Create a personal token',
    newAbout:
      'A token is like a password for a program: anyone who has it can do what you allow here. Allow only what the program needs.',
    create: 'Create the token',
    name: 'Name',
    nameHint: 'The purpose of the token, so that you recognize it later.',
    expires: 'Expires',
    expiresHint: 'A token that expires soon does less harm if it is stolen.',
    onDay: 'On a day',
    onDayHint: 'The token is valid until the end of this day.',
    onDayLast: 'The token is valid until the end of this day, {day} at the latest.',
    /** `day` is a date. */
    until: 'until {day}',
    unchanged: 'As it is now',
    neverHint: 'The token is valid until you delete it.',
    prefilled:
      'A link filled in this form. Create the token only if you trust the source of the link.',
    scopes: 'Permissions',
    scopesHint: 'What a program with this token may do for you. You can change this later.',
    noScopes: 'There are no permissions to choose. The token only identifies you.',
    once: 'Copy the token now. It is not shown again.',
    value: 'Personal token',
    curl: 'To try it, run this on the command line:',
    expiredAbout: 'This token has expired. Delete it, or create a new one.',
    previous: 'The former value is valid until {time}.',
    endFormer: 'End the former value now',
    /** `used` is a list of permissions, and `total` is the number of permissions that the token has. */
    usesOnly: 'Used permissions: only {used} of {total}',
    usesOnlyAbout:
      'Unused permissions only help somebody who steals the token. You can add them again at any time.',
    reduce: 'Keep only the used permissions',
    settings: 'Settings',
    rotate: 'New value',
    rotateAbout:
      'The token gets a new value; its name and permissions do not change. Do this if the value is lost, or may be known to others.',
    overlap: 'Keep the old value valid for',
    overlapHint: 'During this time, you can replace the old value in your programs.',
    rotateSubmit: 'Create a new value',
    delete: 'Delete this token',
    deleteAbout:
      'Programs that use this token lose access immediately. You can undo this for ten seconds.',
    deleteSomeAbout:
      'Programs that use these tokens lose access immediately. You can undo this for ten seconds.',
    deleteSubmit: 'Delete the token',
  },
  /** The text for zero seconds. `Intl` formats all other durations. */
  overlap: { none: 'Not at all' },
  authorization: {
    title: 'What {client} may do',
    device: 'Device',
    ends: 'Expires if it is not used',
    permissions: 'It may:',
    revoke: 'Revoke on this device',
    revokeAbout: 'The application loses access on this device, and can ask you again.',
    revokeAll: 'Revoke on all devices',
    revokeAllAbout: 'The application loses access on all devices, and has to ask you again.',
  },
  sessions: {
    title: 'Sessions',
    about:
      'Browsers in which you are logged in. If you do not recognize a browser, log it out and change your password.',
    current: 'This browser',
    address: 'Address',
    since: 'Logged in',
    lastSeen: 'Last seen',
    end: 'Log out',
    endNamed: 'Log out {browser}',
    others: 'Log out everywhere else',
    othersAbout: 'All browsers except this one will be logged out.',
    alone: 'You are not logged in anywhere else.',
    ended: 'Recently ended',
    endedReasons: {
      logout: 'You logged out.',
      elsewhere: 'You logged out a browser from another browser.',
      login: 'A new login in the same browser replaced the session.',
      password: 'The password was changed.',
      administrator: 'An administrator logged you out.',
      limit: 'You logged in too often: the oldest session ended.',
    },
  },
  /** The page that sends an authorization response to a client in a form. */
  formPost: {
    title: 'Continue to the application',
    sentence: 'If the application does not open by itself, press the button.',
    submit: 'Continue',
  },
  logout: {
    title: 'Log out?',
    asks: '{client} wants to log you out.',
    user: 'You are logged in as',
    submit: 'Log out',
    stay: 'Stay logged in',
    doneTitle: 'You are logged out',
    done: 'You are no longer logged in here.',
    back: 'Return to the application',
  },
  /** The pages on which a user requests and opens a link by e-mail. */
  userLinks: {
    reset_password: {
      title: 'Forgot your password?',
      about:
        'Enter your e-mail address. You will receive a link with which you can set a new password.',
      openTitle: 'Set a new password',
      submit: 'Set password',
      done: 'Your password was changed. Log in with the new password.',
    },
    sign_up: {
      title: 'Create an account',
      about:
        'Enter your e-mail address. You will receive a link with which you can create your account.',
      openTitle: 'Create an account',
      submit: 'Create account',
      done: 'Your account was created. You can log in now.',
    },
    verify_email: {
      openTitle: 'Confirm your e-mail address',
      submit: 'Confirm',
      done: 'Your e-mail address is confirmed.',
      about: 'You have not confirmed your e-mail address yet:',
    },
    request: 'Send link',
    sent: 'Check your e-mail. If the address {email} is correct, you will receive a link that is valid for one hour.',
    toLogin: 'Back to the login',
    tooMany: 'Too many links were requested. Try again in ten minutes.',
  },
  password: {
    title: 'Change password',
    about:
      'After the change, you stay logged in only in this browser. Applications and personal tokens keep their access.',
    current: 'Current password',
    next: 'New password',
    hint: 'At least {min} characters.',
    submit: 'Change password',
  },
  activity: {
    title: 'Recent activity',
    about:
      'What happened with your account. If you do not recognize something, change your password, and revoke applications and tokens that you do not know.',
    none: 'Nothing yet.',
    from: 'From',
    browser: 'Browser or program',
    somebodyElse: 'Somebody else, such as an administrator',
    since: 'From day',
    until: 'To day',
    changes: 'Changes',
    download: 'Download',
    atMost: 'At most {count} events, the latest first.',
    emptyValue: 'empty',
  },
  /** The label of each audit event. */
  events: {
    'login.succeeded': 'Logged in',
    'login.failed': 'A login was refused',
    'session.ended': 'Logged out',
    'consent.given': 'Allowed an application',
    'consent.withdrawn': 'Revoked an application',
    'token.issued': 'An application received a token',
    'id_token.issued': 'Logged in to an application',
    'token.refreshed': 'An application renewed its token',
    'token.revoked': 'A token was revoked',
    'token.deleted': 'Deleted a token',
    'refresh_token.reused': 'An old refresh token was used again',
    'authorization_code.reused': 'A code was used twice',
    'device_code.reused': 'A device code was used twice',
    'personal_token.created': 'Created a personal token',
    'personal_token.edited': 'Changed a personal token',
    'personal_token.rotated': 'Gave a personal token a new value',
    'personal_token.deleted': 'Deleted a personal token',
    'personal_token.restored': 'Restored a personal token',
    'client.created': 'Registered an application',
    'client.edited': 'Changed an application',
    'client.deleted': 'Deleted an application',
    'client.secret_reset': 'Created a new client secret',
    'client.registration_token_leaked': 'Revoked a leaked registration token',
    'client.secret_leaked': 'Revoked a leaked client secret',
    'client.id_reset': 'Created a new client ID',
    'client.verified': 'Verified an application',
    'client.unverified': 'Removed a verification',
    'client.logo_changed': 'Fetched the logo of an application',
    'client.disabled': 'Disabled an application',
    'client.enabled': 'Enabled an application',
    'client.pinned': 'Pinned the document of an application',
    'client.unpinned': 'Unpinned the document of an application',
    'user.created': 'Created a user',
    'user.activated': 'Activated a user',
    'user.deactivated': 'Deactivated a user',
    'user.tokens_ended': 'Ended all tokens of a user',
    'client.tokens_ended': 'Ended all tokens of an application',
    'user.admin_granted': 'Made a user an administrator',
    'user.admin_withdrawn': 'Removed an administrator',
    'user.password_changed': 'Changed a password',
    'user.email_verified': 'Confirmed an e-mail address',
    'user.email_changed': 'Changed an e-mail address',
    'user.deleted': 'Deleted a user',
    'user.vanished': 'Removed the data of a user who no longer exists',
    'users.missing': 'Many users were not found; their data was not removed',
    'secret_key.rotated': 'Changed the secret key of the server',
    'signing_key.created': 'Created a new signing key',
  },
  admin: {
    title: 'Administration',
    mostRefused: 'Refused most',
    mostRefusedAbout:
      'Applications whose requests were refused most often in the last seven days, with the last reasons. Anyone who knows a client ID can cause an entry.',
    clients: 'Applications',
    clientsAbout: 'All registered applications.',
    searchClients: 'Search applications',
    searchClientsHint: 'Name, client ID or owner',
    noClients: 'No application was found.',
    tokens: 'Tokens',
    tokensAbout: 'All issued tokens, without their values.',
    searchTokens: 'Search tokens',
    searchTokensHint: 'E-mail address, client ID or number of the token',
    noTokens: 'No token was found.',
    search: 'Search',
    all: 'Show all',
    activityAbout: 'All changes of accounts, applications and permissions, latest first.',
    event: 'Event',
    allEvents: 'All events',
    userHint: 'E-mail address or ID',
    noEvents: 'No event was found.',
    routine: 'Routine events of the last 24 hours',
    routineAbout:
      'Tokens that applications requested for themselves, exchanged or refreshed. They are counted instead of listed.',
    routineCount: 'Number',
    grantType: 'Grant type',
    token: 'Number of the token',
    request: 'Request ID',
    /** The actors that are not users. */
    actors: {
      client: 'An application',
      command_line: 'The command line',
      system: 'The server',
      unknown: 'Unknown',
    },
    at: 'When',
    actor: 'By',
    owner: 'Owner',
    user: 'User',
    redirectUris: 'Redirect URIs',
    personal: 'Personal token',
    issued: 'Issued to an application',
    tokensOfClient: 'Tokens of this application',
    activityOfClient: 'Activity of this application',
    verify: 'Verify',
    unverify: 'Remove verification',
    logo: 'Logo',
    logoRequested: 'The server is fetching the logo. Load the page again in a few seconds.',
    logoFailed: 'The logo could not be fetched:',
    fetchLogo: 'Fetch the logo again',
    disable: 'Disable',
    enable: 'Enable',
    pin: 'Pin document',
    unpin: 'Unpin document',
    defaultResource: 'Default resource',
    noDefaultResource: 'Setting of the server',
    delete: 'Delete',
    deleteNamed: 'Delete {name}',
    deleteAbout:
      'The application and all its tokens are deleted immediately. This cannot be undone.',
    confirmName: 'To confirm, type its name: {name}',
  },
  users: {
    title: 'Users',
    about: 'Find a user, and see and end sessions, tokens and applications.',
    search: 'Search users',
    hint: 'Beginning of the e-mail address, or ID',
    exactHint: 'Complete e-mail address or ID',
    notSearchable: 'Your application manages its users and offers no search here.',
    none: 'No user was found.',
    inactive: 'Deactivated',
    administrator: 'Administrator',
    unverified: 'E-mail address not confirmed',
    id: 'ID',
    sessions: 'Sessions',
    noSessions: 'Not logged in anywhere.',
    hostSessions: 'Your application manages the logins: log the user out there.',
    tokens: 'Personal tokens',
    noTokens: 'No personal tokens.',
    clients: 'Registered applications',
    noClients: 'No registered applications.',
    authorized: 'Allowed applications',
    noAuthorized: 'No allowed applications.',
    allActivity: 'All activity of this user',
    deactivate: {
      label: 'Deactivate the user',
      about:
        'The user can no longer log in, and all tokens and applications of the user are refused until the user is activated again.',
    },
    activate: {
      label: 'Activate the user',
      about: 'The user can log in again, and the tokens and applications of the user work again.',
    },
  },
  leaked: {
    title: 'A secret leaked',
    about:
      'Paste a token, a client secret or a code that others may have seen. You see what it is, and decide what happens to it.',
    aboutAdmin:
      'Paste a token, a client secret or a code that others may have seen, of any user or application. You see what it is, and decide what happens to it.',
    paste: 'The leaked secret',
    pasteHint:
      'A header, a whole curl command or a line of a log also works. The text is neither stored nor shown again.',
    lookUp: 'Look up',
    again: 'Look up another secret',
    stale: 'The result is not stored any more. Paste the secret again.',
    tooMany: 'Too many unknown secrets were pasted. Try again in a minute.',
    /** The kinds of secrets; the name of the token or of the application follows. */
    kinds: {
      personal_token: 'Personal token',
      access_token: 'Access token of',
      refresh_token: 'Refresh token of',
      client_secret: 'Client secret of',
      authorization_code: 'Authorization code for',
      device_code: 'Device code for',
      session: 'Session of a browser',
      registration_token: 'Registration token of',
      user_link: 'Link by e-mail to',
    },
    ending: 'Ends with',
    valid: 'Still works',
    ended: 'No longer works',
    application: 'Application',
    bound: 'Bound to a key',
    boundAbout: 'Yes: without the key of the application, the secret is useless.',
    history: 'What happened',
    acts: {
      end: {
        label: 'End this secret',
        about:
          'It stops working immediately, and programs that use it lose access. This cannot be undone.',
      },
      endSecret: {
        label: 'End this client secret',
        about: 'The application can no longer log in until its owner creates a new secret.',
      },
      endSession: {
        label: 'Log out this browser',
        about: 'The browser with this session is logged out.',
      },
      endApplication: {
        label: 'End all tokens of the application',
        about:
          'The application loses access to all accounts, and has to ask every user again. Its secret remains valid.',
      },
      revokeApplication: {
        label: 'Revoke the application',
        about:
          'The application loses access to your account on all devices, and has to ask you again.',
      },
      endUser: {
        label: 'End all tokens of the user',
        about:
          'All personal tokens of the user stop working, and all applications lose access to the account. This cannot be undone.',
      },
      endMine: {
        label: 'End all my tokens',
        about:
          'All your personal tokens stop working, and all applications lose access to your account. This cannot be undone.',
      },
      disable: {
        label: 'Disable the application',
        about:
          'The application and all its tokens are refused until an administrator enables it again.',
      },
      logOut: {
        label: 'Log the user out everywhere',
        about: 'All browsers of the user are logged out.',
      },
      logOutElsewhere: {
        label: 'Log out everywhere else',
        about: 'All your browsers except this one are logged out.',
      },
    },
  },
  error: {
    title: 'This did not work',
    /** The problem and the advice for each error code of the protocol. */
    known: {
      invalid_request: {
        what: 'The application sent an invalid request. This is most likely an error of the application, not yours.',
        advice:
          'Go back to the application and try again. If it happens again, send the details below to its developer.',
      },
      unauthorized_client: {
        what: 'The application is not allowed to do this. This is an error of the application, not yours.',
        advice: 'Send the details below to its developer.',
      },
      unsupported_response_type: {
        what: 'The application asked for something that this server does not support. This is an error of the application, not yours.',
        advice: 'Send the details below to its developer.',
      },
      invalid_scope: {
        what: 'The application asked for a permission that it cannot have. This is an error of the application, not yours.',
        advice: 'Send the details below to its developer.',
      },
      access_denied: {
        what: 'The permission was refused. The application has no access to your account.',
        advice: 'You can close this page. If you change your mind, start again at the application.',
      },
      login_required: {
        what: 'The application wanted to continue without a login, but you are not logged in here. Nothing was changed.',
        advice: 'Go back to the application and begin again.',
      },
      server_error: {
        what: 'Something went wrong on our side. It is not your error.',
        advice: 'Go back to the application and try again in a few minutes.',
      },
      temporarily_unavailable: {
        what: 'The service is not available right now. It is not your error.',
        advice: 'Go back to the application and try again in a few minutes.',
      },
    },
    /** The problem and the advice for a request that has expired or was already used. */
    expired: {
      what: 'The application’s request has expired, or was already used. Nothing was changed.',
      advice: 'Go back to the application and start again there.',
    },
    unknown: {
      what: 'The request of the application failed. This is most likely an error of the application, not yours.',
      advice:
        'Go back to the application and try again. If it happens again, send the details below to its developer.',
    },
    /** The advice if the request contains neither an error code nor a description. */
    again: 'Go back to the application and try again.',
    onlyYou: 'Only the owner of the application and administrators see this.',
    disabled: 'An administrator has disabled the application.',
    refusedUri: 'Redirect URI of the request',
    registeredUris: 'Registered redirect URIs',
    noUri: 'None',
    differs: 'What differs',
    openClient: 'Open the application',
    parts: {
      scheme: 'The scheme, such as http or https',
      host: 'The host',
      port: 'The port',
      path: 'The path',
      trailingSlash: 'The slash at the end of the path',
      letterCase: 'Upper and lower case',
      query: 'The query after ?',
      fragment: 'The part after #',
      character: 'A character that is not allowed in addresses, shown as U+…',
    },
    code: 'Error code',
    details: 'Details',
    home: 'To the start page',
  },
  problem: {
    atWork: 'This form was sent twice, and is still being processed. Reload the page in a moment.',
    staleLogout: 'This page is out of date, so you were not logged out. Log out on the start page.',
    title: 'This did not work',
    stale: 'This page is out of date. Please decide again.',
    foreign: 'This form does not belong to your session. Nothing was done.',
    loggedOut: 'You are no longer logged in. Go back to the application and start again.',
    decided:
      'This request was already decided, or has expired. Go back to the application and start again.',
    askAgain: 'Show the request again',
    clientChanged: 'The application was changed or deleted. Nothing was done.',
    notFound: 'There is no page at this address.',
    notFoundTitle: 'Not found',
    failed: 'Something went wrong on our side. Please try again later.',
    unavailable: 'The service is not available right now. Please try again in a moment.',
    wrongMethod: 'This address cannot be used in this way. Go back and try again.',
    tooLarge: 'The request is too large. Nothing was done.',
    badRequest: 'The request cannot be read. Nothing was done.',
    late: 'This page was open for too long. Nothing was done. Show the request again.',
    tooMany: 'There were too many requests. Nothing was done. Wait a few minutes, and try again.',
    linkInvalid: 'This link is not valid any more, or it was already used. Request a new link.',
  },
  /** The problems of form fields. */
  problems: {
    usersElsewhere: 'Your application manages its users: deactivate this user there.',
    looksLikeSecret: 'This looks like a secret. A search would put it into addresses and logs.',
    ownAccount: 'This is your own account: only another administrator can deactivate it.',
    credentialMissing: 'There is no secret in this text. Paste the whole value.',
    credentialsTooMany: 'The text is too long. Paste only the line with the secret.',
    credentialUnknown: 'This server knows no secret in this text, or the secret no longer works.',
    credentialNotYours: 'This text contains none of your secrets, or the secret no longer works.',
    notRotatable:
      'This token has a permission that users cannot grant, so it cannot get a new value here.',
    changedMeanwhile: 'The application has changed since this page was opened. Check it again.',
    nameMissing: 'Enter a name.',
    nameTooLong: 'The name must not be longer than {limit} characters.',
    emailInvalid: 'This is not an e-mail address.',
    emailUnseen:
      'The address contains an invisible character. Type the address instead of pasting it.',
    emailLookAlike:
      'The address contains letters that look like other letters. Type the address with one alphabet.',
    unseenCharacter:
      'The text contains an invisible character. Type the text instead of pasting it.',
    tooManyMarks: 'There are too many marks on one letter.',
    descriptionTooLong: 'The description must not be longer than {limit} characters.',
    logoutUriInvalid:
      'Enter an address that begins with https:// and has a full domain name, without a user name, a port or a #. Or leave the field empty.',
    websiteInvalid: 'Enter an address that begins with https://, or leave the field empty.',
    redirectUriTooLong: 'The address is longer than {limit} characters.',
    redirectUriFragment: 'Remove the # and everything after it.',
    redirectUriResponseParameter:
      'The address must not contain a parameter that our response adds, such as code or state.',
    redirectUriCharacter: 'The address contains a character that is not allowed in addresses.',
    redirectUriPrivateUse:
      'Only public applications can use an address with a scheme of their own, and only if this server allows it.',
    redirectUriInvalid: 'The address is not complete.',
    redirectUriNotHttps:
      'The address must begin with https://, or, on your own computer, with http://localhost, http://127.0.0.1 or http://[::1].',
    tooManyClients:
      'You can register at most {limit} applications. Delete one that you no longer need.',
    tooManyPersonalTokens:
      'You can have at most {limit} personal tokens. Delete one that you no longer need.',
    applicationTooLong:
      'The fields of this application are too long together. Shorten the description, or remove redirect URIs.',
    tooManyRedirectUris: 'There can be at most {limit} redirect URIs.',
    scopeUnknown: 'The permission {scope} does not exist, or cannot be chosen.',
    undoTooLate: 'This can no longer be undone, or it was already undone in another window.',
    draftLost:
      'The text of the earlier form is not available: it is kept for 20 minutes, for the user who typed it, and shown once.',
    expiredForGood: 'The token has expired, so its expiry cannot be changed. Create a new value.',
    expiresInvalid: 'Enter a day, such as 2030-01-31.',
    expiresInPast: 'Choose a day in the future.',
    expiresTooLate: 'Choose a day that is {day} at the latest.',
    expiresMissing: 'Choose a day, {day} at the latest.',
    confirmName: 'This is not the name. Nothing was deleted.',
    passwordWrong: 'The current password is wrong.',
    passwordTooShort: 'The password must have at least {limit} characters.',
    passwordTooLong: 'The password is too long.',
    overlapInvalid: 'Choose one of the offered times.',
    other: 'This cannot be saved. Please check what you entered.',
    stale:
      'This page is out of date, for instance because you logged in again in another window. Nothing was changed. Check what you entered, and send it again.',
    loggedOut:
      'You were logged out, so nothing was saved yet. Check what you entered, and save it.',
    redirectUrisMissing: 'This kind of application needs at least one redirect URI.',
    redirectUrisUnused:
      'A machine has no redirect URI. Leave the field empty, or choose another kind.',
  },
  /** Confirmations of completed actions. */
  done: {
    userDeactivated: '{name} was deactivated.',
    userActivated: '{name} was activated.',
    credentialEnded: 'The secret no longer works.',
    applicationTokensEnded: 'All tokens of “{name}” were ended.',
    ownTokensEnded: 'All your tokens were ended.',
    userTokensEnded: 'All tokens of {name} were ended.',
    loggedOut: '{name} was logged out everywhere.',
    deviceRevoked: '{name} was logged out on that device.',
    clientCreated: 'The application is registered.',
    clientSaved: 'The changes were saved.',
    clientDeleted: 'The application “{name}” was deleted.',
    secretReset: 'The application has a new secret.',
    tokenCreated: 'The token was created.',
    tokenSaved: 'The changes were saved.',
    tokenRotated: 'The token has a new value.',
    tokenDeleted: 'The token “{name}” was deleted.',
    tokensDeleted: '{count, plural, one {# token was deleted.} other {# tokens were deleted.}}',
    tokensRestored:
      '{count, plural, one {# token is valid again.} other {# tokens are valid again.}}',
    formerEnded: 'The former value is no longer valid.',
    tokenReduced: 'The token has only the permissions that it used.',
    revokedSome:
      '{count, plural, one {# application can no longer act for you.} other {# applications can no longer act for you.}}',
    revoked: '“{name}” can no longer act for you.',
    revokedAll: 'No application can act for you any more.',
    sessionEnded: 'That browser was logged out.',
    linkSent: 'A link was sent to {email}. It is valid for one hour.',
    passwordChanged: 'Your password was changed. All other browsers were logged out.',
    otherSessionsEnded: 'All other browsers were logged out.',
    logoRequested: 'The logo of “{name}” is being fetched.',
    clientVerified: '“{name}” is shown as verified.',
    clientUnverified: '“{name}” is no longer shown as verified.',
    clientDisabled: '“{name}” was disabled: it and its tokens are refused.',
    clientEnabled: '“{name}” is enabled again.',
    clientPinned: '“{name}” is pinned: its document is not fetched any more.',
    clientUnpinned: '“{name}” is not pinned any more: its document is fetched again.',
    defaultResourceChanged: 'The default resource of “{name}” was changed.',
  },
  /** The texts of the built-in scopes. */
  scopes: {
    group: emailScope.group,
    helpTexts: Object.fromEntries(builtInScopes.map(({ id, helpText }) => [id, helpText])),
  },
} as const

/** The texts of one language. */
export type Messages = MessagesOf<typeof en>

/** The texts of a group of patterns. */
type MessagesOf<Patterns> = {
  readonly [Key in keyof Patterns]: Patterns[Key] extends string
    ? Text<Patterns[Key]>
    : MessagesOf<Patterns[Key]>
}
