import { counted } from './counted.ts'

const count = counted('en')

/** Every text of the pages in English. The other languages have the same shape. */
export const en = {
  frame: {
    skip: 'Skip to the content',
    navigation: 'Account',
    applications: 'Applications',
    sessions: 'Sessions',
    activity: 'Activity',
    admin: 'Administration',
    logout: 'Log out',
    copy: 'Copy',
    copied: 'Copied',
    next: 'Next page',
    first: 'First page',
    pages: 'Pages',
    save: 'Save changes',
    cancel: 'Cancel',
    /** Prefixes the problem of one line of a field. */
    line: (line: number, sentence: string) => `Line ${line}: ${sentence}`,
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
    expired: 'Expired',
    created: 'Created',
    users: 'Users',
    /** A number above the limit of counting. */
    moreThan: (count: string) => `more than ${count}`,
    expires: 'Expires',
    never: 'Never',
    lastUsed: 'Last used',
    neverUsed: 'Not used yet',
    /** An IP address. */
    from: (address: string) => `from ${address}`,
    owner: 'Registered by',
    nobody: 'Nobody',
    website: 'Website',
    since: 'Allowed since',
    permissions: 'Permissions',
    noPermissions: 'None: it only says who you are',
    otherGroup: 'Other',
    unknownBrowser: 'Unknown browser or program',
    words: (name: string) => `What ${name} says about itself:`,
  },
  login: {
    title: 'Log in',
    email: 'E-mail address',
    password: 'Password',
    submit: 'Log in',
    wrong: 'The e-mail address or the password is wrong.',
    tooMany: 'Too many wrong passwords were entered. Wait ten minutes, then try again.',
    stale: 'This page was open for too long, or cookies are blocked. Please try again.',
    foreign: 'This form was sent from another site. Please log in here.',
  },
  home: {
    title: 'Start page',
    nobody: 'Nobody is logged in.',
    user: 'You are logged in as',
    login: 'Log in',
    applications: 'Applications and personal tokens',
    aboutApplications:
      'Register applications, make tokens for your own programs, and see whom you allowed to act for you.',
    sessions: 'Sessions',
    aboutSessions: 'See where you are logged in, and log out elsewhere.',
    admin: 'Administration',
    aboutAdmin: 'Look after all applications and tokens.',
  },
  consent: {
    title: (client: string) => `Allow ${client}?`,
    asks: (client: string) => `${client} wants to act for you. It asks for permission to:`,
    nothing: (client: string) =>
      `${client} wants to know that you are you. It gets no further permission.`,
    optional: 'You can untick what you do not want to allow.',
    user: 'You are logged in as',
    owner: 'Registered by',
    website: 'Website',
    destination: 'You will be sent to',
    local: 'a program on this very computer',
    unverified: (brand: string) =>
      `This application was not checked by ${brand}. Allow it only if you know who makes it.`,
    selfRegistered: (brand: string) =>
      `This application registered itself. Nobody at ${brand} has checked it: its name and all else that it says may be untrue. Allow it only if you know who makes it.`,
    selfDescribed: (host: string) =>
      `This application describes itself at ${host}. Nobody here has checked it: its name and all else that it says may be untrue. Allow it only if you know who is behind that address.`,
    localCaution:
      'If you allow it, a program on this computer gets the permission. Any program can claim to be this application: allow it only if you have just started it yourself.',
    terms: 'Terms of use',
    privacy: 'Privacy policy',
    mixesAlphabets:
      'The name mixes letters of several alphabets, and some of them look alike. Make sure it is who you think.',
    lasting:
      'If you allow it, it lasts until you take it back in your settings, under Applications.',
    accept: 'Allow',
    refuse: 'Refuse',
  },
  device: {
    title: 'Connect a device',
    about: 'Your device or program shows a code. Enter it here.',
    code: 'Code',
    codeHint: 'Eight letters, such as WDJB-MJHT. It does not matter whether they are capitals.',
    submit: 'Continue',
    wrong: 'This code is not valid. It may be mistyped, have expired, or have been used already.',
    tooMany:
      'Too many wrong codes were entered. Wait ten minutes, then get a new code on your device.',
    warning:
      'Allow this only if you started it yourself, just now, on a device of yours. If somebody sent you this code or a link, refuse: they would act in your name.',
    shows: 'Your device must show this very code:',
    allowedTitle: 'Allowed',
    allowed: (client: string) => `${client} can act for you now.`,
    goBack: 'Go back to your device: it goes on by itself in a few seconds.',
    refusedTitle: 'Refused',
    refused: (client: string) => `${client} can do nothing for you.`,
    close: 'You can close this page.',
  },
  applications: {
    title: 'Applications',
    clients: {
      title: 'My applications',
      about:
        'Applications that you registered. They can ask other people, and you, for permission to act for them here.',
      none: 'You have not registered any application yet.',
      invite:
        'Register one, and people can log in to your own site or program with their account here.',
      create: 'Register an application',
    },
    tokens: {
      title: 'My personal tokens',
      about:
        'Keys for your own scripts and programs. Each acts for you, within the permissions that you chose for it.',
      none: 'You have no personal tokens yet.',
      invite:
        'Create one to use the API from a script, from the command line or from another program.',
      create: 'Create a token',
    },
    authorized: {
      title: 'Applications that I allowed',
      about:
        'Applications that may act for you because you allowed it. You can take it back at any time.',
      none: 'You have not allowed any application to act for you.',
      invite:
        'When you log in to another site or program with your account here, you will find it in this list.',
      devices: count({ one: '# device', other: '# devices' }),
      moreDevices: count({ one: 'and # more device', other: 'and # more devices' }),
      revoke: 'Revoke',
      /** The accessible name of a button. */
      revokeNamed: (name: string) => `Revoke ${name}`,
      revokeAll: 'Revoke all applications',
      revokeAllAbout:
        'No application will be able to act for you any more, on any device. Your own personal tokens stay.',
    },
  },
  client: {
    newTitle: 'Register an application',
    newAbout:
      'An application that is registered can ask people for permission to act for them here. It is recognized by a client ID.',
    create: 'Register the application',
    name: 'Name',
    nameHint: 'What people read when your application asks for permission.',
    description: 'Description',
    descriptionHint: 'Optional. What your application does, and why it needs permission.',
    website: 'Website',
    websiteHint: 'Optional. Where people find out more; it begins with https://',
    redirectUris: 'Redirect URIs',
    redirectUrisHint:
      'One per line. People come back to one of these addresses after they decided. It has to be the exact address, and to begin with https:// (or http:// on your own computer).',
    type: 'Type',
    confidentialHint:
      'It runs on a server of yours and can keep a secret, such as a web application.',
    publicHint:
      'Other people can look inside, such as a phone or desktop app, or a page without a server. It has no secret.',
    defaultScopes: 'Default permissions',
    defaultScopesHint: 'What your application asks for where its request does not say.',
    optionalScopes: 'Optional permissions',
    optionalScopesHint: 'People can untick these and still allow the rest.',
    credentials: 'Credentials',
    secretKept: 'Shown once, when it was made. If you lost it, make a new one below.',
    secretOnce:
      'Copy the client secret now. It is shown this once only, and we cannot show it again.',
    previousSecret: (time: string) => `The former secret is valid until ${time}.`,
    secretLeaked: (time: string) =>
      `The client secret was found where others can read it. It stopped working on ${time}: make a new one below.`,
    disabledAbout:
      'An administrator disabled this application. Until that is taken back, it and its tokens are refused.',
    tryIt: 'Try it',
    tryItStart: 'Start the flow, as your application would',
    tryItAbout:
      'This leads to the page on which people decide. You are then sent to your redirect URI, with a code in its address.',
    tryItCurl:
      'Within a minute, swap the code for an access token. Put the code in the place of CODE:',
    tryItCurlSecret:
      'Within a minute, swap the code for an access token. Put the code in the place of CODE, and the client secret in the place of SECRET:',
    settings: 'Settings',
    reset: 'New client secret',
    resetAbout: 'Do this when the secret may have become known to others, or is lost.',
    overlap: 'Keep the old secret valid for',
    overlapHint: 'Time to put the new one in the place of the old one.',
    resetSubmit: 'Make a new secret',
    delete: 'Delete this application',
    deleteAbout:
      'All its tokens stop working at once, and people have to allow it anew if you register it again. This cannot be undone.',
    confirmName: (name: string) => `To confirm, type the name of the application: ${name}`,
    deleteSubmit: 'Delete the application',
  },
  token: {
    newTitle: 'Create a personal token',
    newAbout:
      'A token is like a password for a program: anyone who has it can do what you allow here. Allow only what the program needs.',
    create: 'Create the token',
    name: 'Name',
    nameHint: 'What it is for, so that you recognize it later.',
    expires: 'Expires',
    expiresHint: 'Optional. Without a day, the token is valid until you delete it.',
    expiresLast: (day: string) => `Choose a day, ${day} at the latest.`,
    scopes: 'Permissions',
    scopesHint: 'What a program with this token may do for you. You can change this later.',
    noScopes: 'There is nothing to choose from: the token tells who you are.',
    once: 'Copy the token now. It is shown this once only, and we cannot show it again.',
    value: 'Personal token',
    curl: 'To try it, run this on the command line:',
    expiredAbout: 'This token has expired: it is refused. Delete it, or create a new one.',
    previous: (time: string) => `The former value is valid until ${time}.`,
    settings: 'Settings',
    rotate: 'New value',
    rotateAbout:
      'The token keeps its name and its permissions and gets a new value. Do this when the value may have become known to others, or is lost.',
    overlap: 'Keep the old value valid for',
    overlapHint: 'Time to put the new one in the place of the old one.',
    rotateSubmit: 'Make a new value',
    delete: 'Delete this token',
    deleteAbout: 'Programs that use it are refused from then on. This cannot be undone.',
    deleteSubmit: 'Delete the token',
  },
  /** Durations are formatted by Intl, except for zero seconds. */
  overlap: { none: 'No time: it stops at once' },
  authorization: {
    title: (client: string) => `What ${client} may do`,
    device: 'Device',
    ends: 'Ends, if it is not used',
    permissions: 'It may:',
    revoke: 'Revoke on this device',
    revokeAbout: 'The application is logged out on this device, and can ask you again.',
    revokeAll: 'Revoke on all devices',
    revokeAllAbout: 'The application is logged out everywhere, and has to ask you again.',
  },
  sessions: {
    title: 'Sessions',
    about:
      'Browsers in which you are logged in. If you do not know one, log it out and change your password.',
    current: 'This browser',
    address: 'Address',
    since: 'Logged in',
    lastSeen: 'Last seen',
    end: 'Log out',
    endNamed: (browser: string) => `Log out ${browser}`,
    others: 'Log out everywhere else',
    othersAbout: 'Every browser but this one will be logged out.',
    alone: 'You are logged in nowhere else.',
  },
  activity: {
    title: 'Recent activity',
    about:
      'What happened with your account. If you do not recognize something, change your password, and revoke what you do not know.',
    none: 'Nothing yet.',
    from: 'From',
    browser: 'Browser or program',
    somebodyElse: 'Somebody else, such as an administrator',
  },
  /** Short texts by the names of audit events. */
  events: {
    'login.succeeded': 'Logged in',
    'login.failed': 'A login was refused',
    'session.ended': 'Logged out',
    'consent.given': 'Allowed an application to act',
    'consent.withdrawn': 'Took everything back from an application',
    'token.issued': 'An application got a token',
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
    'client.created': 'Registered an application',
    'client.edited': 'Changed an application',
    'client.deleted': 'Deleted an application',
    'client.secret_reset': 'Made a new client secret',
    'client.secret_leaked': 'Ended a client secret that had leaked',
    'client.id_reset': 'Made a new client ID',
    'client.verified': 'Verified an application',
    'client.unverified': 'Took a verification back',
    'client.disabled': 'Disabled an application',
    'client.enabled': 'Enabled an application',
    'user.created': 'Created a user',
    'user.activated': 'Activated a user',
    'user.deactivated': 'Deactivated a user',
    'user.admin_granted': 'Made a user an administrator',
    'user.admin_withdrawn': 'A user is no administrator any more',
    'user.password_changed': 'Changed a password',
    'user.deleted': 'Deleted a user',
    'user.vanished': 'Removed the data of a user who no longer exists',
    'users.missing': 'Did not find many users, and removed nothing',
    'secret_key.rotated': 'Changed the secret key of the server',
    'signing_key.created': 'Made a new signing key',
  },
  admin: {
    title: 'Administration',
    clients: 'Applications',
    clientsAbout: 'Every application that anybody registered.',
    searchClients: 'Search applications',
    searchClientsHint: 'Name, client ID or owner',
    noClients: 'No application was found.',
    tokens: 'Tokens',
    tokensAbout: 'Every token that was issued, with no way to see its value.',
    searchTokens: 'Search tokens',
    searchTokensHint: 'E-mail address, client ID or number of the token',
    noTokens: 'No token was found.',
    search: 'Search',
    all: 'Show all',
    activityAbout: 'Everything that changed who may do what, the latest first.',
    event: 'Event',
    allEvents: 'All events',
    userHint: 'E-mail address or ID',
    noEvents: 'No event was found.',
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
    verify: 'Verify',
    unverify: 'Take verification back',
    disable: 'Disable',
    enable: 'Enable',
    delete: 'Delete',
    deleteNamed: (name: string) => `Delete ${name}`,
    deleteAbout: 'The application and all its tokens are gone at once. This cannot be undone.',
    confirmName: (name: string) => `To confirm, type its name: ${name}`,
  },
  error: {
    title: 'This did not work',
    /** Texts by the error codes of the protocol: the problem, its cause, and what to do. */
    known: {
      invalid_request: {
        what: 'The application sent a request that cannot be used. This is most likely a mistake of the application, not yours.',
        advice:
          'Go back to the application and try again. If it happens again, tell its maker what is written below.',
      },
      unauthorized_client: {
        what: 'The application is not set up for what it tried. This is a mistake of the application, not yours.',
        advice: 'Tell its maker what is written below.',
      },
      unsupported_response_type: {
        what: 'The application asked for something that this server does not offer. This is a mistake of the application, not yours.',
        advice: 'Tell its maker what is written below.',
      },
      invalid_scope: {
        what: 'The application asked for a permission that it cannot have. This is a mistake of the application, not yours.',
        advice: 'Tell its maker what is written below.',
      },
      access_denied: {
        what: 'The permission was refused. That is nobody’s mistake: the application may do nothing for you.',
        advice: 'You can close this page. If you change your mind, begin again at the application.',
      },
      login_required: {
        what: 'The application wanted to go on without asking you to log in, and you are not logged in here. Nothing was done.',
        advice: 'Go back to the application and begin again.',
      },
      server_error: {
        what: 'Something went wrong on our side. It is neither your mistake nor that of the application.',
        advice: 'Go back to the application and try again in a few minutes.',
      },
      temporarily_unavailable: {
        what: 'The service is not available right now. It is neither your mistake nor that of the application.',
        advice: 'Go back to the application and try again in a few minutes.',
      },
    },
    unknown: {
      what: 'The application and this server could not agree. This is most likely a mistake of the application, not yours.',
      advice:
        'Go back to the application and try again. If it happens again, tell its maker what is written below.',
    },
    /** For an unknown error. */
    again: 'Go back to the application and try again.',
    code: 'Error code',
    details: 'Details',
    home: 'To the start page',
  },
  problem: {
    staleLogout: 'This page was open for too long. Please log out again.',
    title: 'This did not work',
    stale: 'This page was open for too long. Please decide again.',
    foreign: 'This form does not belong to your session. Nothing was done.',
    loggedOut: 'You are not logged in any more. Go back to the application and begin again.',
    decided:
      'This request was answered already, or has expired. Go back to the application and begin again.',
    undecided: 'Neither Allow nor Refuse was chosen. Go back and choose one.',
    clientChanged: 'The application has changed or is no longer there. Nothing was done.',
    notFound: 'There is nothing at this address.',
    notFoundTitle: 'Not found',
    failed: 'Something went wrong on our side. Please try again later.',
    unavailable: 'The service is not available right now. Please try again in a moment.',
    wrongMethod: 'This address cannot be used in this way. Go back and try again.',
    tooLarge: 'What was sent is too large. Nothing was done.',
    badRequest: 'What was sent cannot be read. Nothing was done.',
  },
  /** The problems of form fields. */
  problems: {
    notRotatable:
      'This token has a permission that only the application itself gives, so it cannot get a new value here.',
    changedMeanwhile: 'The application has changed since this page was opened. Look at it again.',
    atWork:
      'This form was sent twice, and we are still at work on it. Look at the page again in a moment.',
    nameMissing: 'Enter a name.',
    nameTooLong: (limit: number) => `The name must not be longer than ${limit} characters.`,
    unseenCharacter:
      'There is a character in it that cannot be seen. Type the text instead of pasting it.',
    tooManyMarks: 'There are too many marks on one letter.',
    descriptionTooLong: (limit: number) =>
      `The description must not be longer than ${limit} characters.`,
    websiteInvalid: 'Enter an address that begins with https://, or leave it empty.',
    redirectUriTooLong: (limit: number) => `It is longer than ${limit} characters.`,
    redirectUriFragment: 'It must not contain a # and what follows it.',
    redirectUriAnswerParameter:
      'It must not contain a parameter that our answer adds, such as code or state.',
    redirectUriCharacter: 'There is a character in it that an address cannot contain.',
    redirectUriPrivateUse:
      'An address with a scheme of its own can only be used by public applications, and only where this server allows it.',
    redirectUriInvalid: 'It is not a complete address.',
    redirectUriNotHttps:
      'It must begin with https://. Only on your own computer may it begin with http://localhost, http://127.0.0.1 or http://[::1].',
    tooManyClients: (limit: number) =>
      `You can register at most ${limit} applications. Delete one that you do not need any more.`,
    tooManyPersonalTokens: (limit: number) =>
      `You can have at most ${limit} personal tokens. Delete one that you do not need any more.`,
    tooManyRedirectUris: (limit: number) => `There can be at most ${limit} redirect URIs.`,
    scopeUnknown: (scope: string) => `The permission ${scope} does not exist, or cannot be chosen.`,
    expiresInvalid: 'Enter a day, such as 2030-01-31.',
    expiresInPast: 'Choose a day in the future.',
    expiresTooLate: (day: string) => `Choose a day that is ${day} at the latest.`,
    expiresMissing: (day: string) => `Choose a day, ${day} at the latest.`,
    confirmName: 'This is not the name. Nothing was deleted.',
    overlapInvalid: 'Choose one of the offered times.',
    other: 'This cannot be saved. Please check what you entered.',
    stale: 'This page was open for too long. What you entered is still here: please send it again.',
  },
  /** Confirmations of completed actions. */
  done: {
    deviceRevoked: (name: string) => `${name} was logged out on that device.`,
    clientCreated: 'The application is registered.',
    clientSaved: 'The changes were saved.',
    clientDeleted: (name: string) => `The application “${name}” was deleted.`,
    secretReset: 'The application has a new secret.',
    tokenCreated: 'The token was created.',
    tokenSaved: 'The changes were saved.',
    tokenRotated: 'The token has a new value.',
    tokenDeleted: (name: string) => `The token “${name}” was deleted.`,
    revoked: (name: string) => `“${name}” can no longer act for you.`,
    revokedAll: 'No application can act for you any more.',
    sessionEnded: 'That browser was logged out.',
    otherSessionsEnded: 'All other browsers were logged out.',
    clientVerified: (name: string) => `“${name}” is shown as verified.`,
    clientUnverified: (name: string) => `“${name}” is no longer shown as verified.`,
    clientDisabled: (name: string) => `“${name}” was disabled: it and its tokens are refused.`,
    clientEnabled: (name: string) => `“${name}” is enabled again.`,
  },
}

/** The texts of one language. */
export type Messages = typeof en
