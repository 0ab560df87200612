/* A PKCS #11 library in front of SoftHSM: what it is told to, it does late or refuses.
 *
 * PKCS11_FAULTS names a file. "sleep N" has each signature take N milliseconds; "fail CODE COUNT"
 * answers the next COUNT calls that begin a signature with that code. SoftHSM is the
 * library that PKCS11_REAL names. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long word;
enum { GET_FUNCTION_LIST = 3, SIGN_INIT = 42, SIGN = 43, FUNCTIONS = 68 };
typedef struct { unsigned char version[2]; void *call[FUNCTIONS]; } functions;

static functions ours, *real;

static int told(const char *what, const char *form, word *number, long *count, long *at) {
    const char *name = getenv("PKCS11_FAULTS");
    FILE *file = name ? fopen(name, "r+") : NULL;
    char line[64] = "";
    if (file == NULL) return 0;
    (void)!fgets(line, sizeof line, file);
    int found = strncmp(line, what, strlen(what)) == 0 && sscanf(line, form, number, count) >= 1;
    if (found && at != NULL && *count > 0) {
        rewind(file);
        fprintf(file, "%s 0x%03lX %03ld\n", what, *number, *count - 1);
        *at = *count;
    }
    fclose(file);
    return found;
}

static word refused(void) {
    word code = 0;
    long count = 0, before = 0;
    return told("fail", "fail %lX %ld", &code, &count, &before) && before > 0 ? code : 0;
}

static word sign_init(word session, void *mechanism, word key) {
    word code = refused();
    return code ? code : ((word (*)(word, void *, word))real->call[SIGN_INIT])(session, mechanism, key);
}

static word sign(word session, void *data, word size, void *signature, word *length) {
    word milliseconds = 0;
    long unused = 0;
    if (told("sleep", "sleep %lu", &milliseconds, &unused, NULL)) usleep(milliseconds * 1000);
    return ((word (*)(word, void *, word, void *, word *))real->call[SIGN])(session, data, size, signature, length);
}

word C_GetFunctionList(functions **list) {
    void *library = dlopen(getenv("PKCS11_REAL"), RTLD_NOW | RTLD_LOCAL);
    word (*get)(functions **) = library ? (word (*)(functions **))dlsym(library, "C_GetFunctionList") : NULL;
    if (get == NULL) return 5;
    word answer = get(&real);
    if (answer) return answer;
    ours = *real;
    ours.call[GET_FUNCTION_LIST] = (void *)C_GetFunctionList;
    ours.call[SIGN_INIT] = (void *)sign_init;
    ours.call[SIGN] = (void *)sign;
    *list = &ours;
    return 0;
}
