# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# trace.awk - of the headers of PMIx, the names or the wrappers of the functions that are traced (src/trace).
# usage: awk -v MAKE=names|wrappers -f trace.awk pmix_common.h pmix.h pmix_tool.h
#
# Traced are the functions of pmix.h and pmix_tool.h that return a status, but for those that only change a value.  What a
# call is about is known by the types and names of its parameters.

function is_traced(name) {
    return name !~ /^PMIx_(Data_|Error_code|Parse_cpuset_string|Get_relative_locality|tool_set_server_module)/
}

# The parameters of @list into type[], name[].
function params_cut(list,    i) {
    count = list == "void" ? 0 : split(list, part, /, */)
    for (i = 1; i <= count; i++) {
        gsub(/^ +| +$/, "", part[i])
        name[i] = part[i]
        sub(/\[\]$/, "", name[i])
        sub(/.*[ *]/, "", name[i])
    }
}

function arguments(    i, text) {
    for (i = 1; i <= count; i++)
        text = text (i > 1 ? ", " : "") name[i]
    return text
}

# A callback whose first parameter is a status, and that gets its cbdata back.
function callback_make(line,    type, i, text) {
    type = line
    sub(/^typedef void \(\*/, "", type)
    sub(/\).*/, "", type)
    sub(/^[^(]*\([^(]*\(/, "", line)
    sub(/\);.*/, "", line)
    if (line !~ /^pmix_status_t status,.*void \*cbdata/)
        return
    params_cut(line)
    calls_back[type] = 1
    if (MAKE != "wrappers")
        return
    text = arguments()
    sub(/cbdata/, "given.cbdata", text)
    printf "__attribute__((unused)) static void back_of_%s(%s)\n{\n    const struct sx_trace_given given = sx_trace_back_take(cbdata, status);\n\n" \
           "    ((%s)given.fn)(%s);\n}\n\n", type, line, type, text
}

function notes(    i) {
    for (i = 1; i <= count; i++) {
        if (part[i] ~ /pmix_proc_t (\*(proc|source|server)|(proc|source)\[\])$/ && fn !~ /_init$|_Init$|attach/)
            printf "    sx_trace_procs(&call, %s, 1);\n", name[i]
        else if (part[i] ~ /const pmix_proc_t / && i < count && part[i + 1] ~ /^size_t /)
            printf "    sx_trace_procs(&call, %s, %s);\n", name[i], name[i + 1]
        else if (part[i] ~ /^const char (\*(key|grp|nspace|nodename)|(key|grp)\[\])$/)
            printf "    sx_trace_text(&call, %s);\n", name[i]
        else if (part[i] ~ /^char \*\*keys$/)
            printf "    sx_trace_text(&call, keys != NULL ? keys[0] : NULL);\n"
        else if (part[i] ~ /pmix_pdata_t /)
            printf "    sx_trace_text(&call, %s != NULL && %s > 0 ? %s[0].key : NULL);\n", name[i], name[i + 1], name[i]
        else if (part[i] ~ /pmix_app_t /)
            printf "    sx_trace_text(&call, %s != NULL && %s > 0 ? %s[0].cmd : NULL);\n", name[i], name[i + 1], name[i]
        else if (part[i] ~ /pmix_query_t / && name[i + 1] ~ /^n/)
            printf "    sx_trace_text(&call, %s != NULL && %s > 0 && %s[0].keys != NULL ? %s[0].keys[0] : NULL);\n", \
                   name[i], name[i + 1], name[i], name[i]
        else if (fn ~ /^PMIx_(Publish|Log|Process_monitor)/ && part[i] ~ /^const pmix_info_t / && !(fn in has_key)) {
            has_key[fn] = 1
            if (part[i + 1] ~ /^size_t /)
                printf "    sx_trace_text(&call, %s != NULL && %s > 0 ? %s[0].key : NULL);\n", name[i], name[i + 1], name[i]
            else
                printf "    sx_trace_text(&call, %s != NULL ? %s->key : NULL);\n", name[i], name[i]
        }
    }
}

function wrapper_make(list,    i, type, wrapped) {
    printf "PMIX_EXPORT pmix_status_t %s(%s)\n{\n    static _Atomic(void *) next;\n    struct sx_trace_call call;\n", fn, list
    printf "    __typeof__(%s) *const real = (__typeof__(%s) *)next_find(&next, \"%s\");\n\n", fn, fn, fn
    printf "    if (real == NULL) {\n        return PMIX_ERR_NOT_SUPPORTED;\n    }\n"
    printf "    sx_trace_begin(&call, SX_TRACE_%s);\n", fn
    notes()
    for (i = 1; i < count; i++) {
        type = part[i]
        sub(/ .*/, "", type)
        if ((type in calls_back) && part[i + 1] ~ /^void \*/) {
            wrapped = 1
            printf "    struct sx_trace_back *const back = sx_trace_back_new(&call, (sx_trace_fn)%s, %s);\n\n", name[i], name[i + 1]
            printf "    if (back != NULL) {\n        %s = back_of_%s;\n        %s = back;\n    }\n", name[i], type, name[i + 1]
        }
    }
    printf "    sx_trace_go(&call);\n    const pmix_status_t status_ = real(%s);\n    sx_trace_end(&call, status_);\n", arguments()
    if (wrapped)
        printf "    sx_trace_back_done(back, status_);\n"
    if (fn ~ /^PMIx_(Init|tool_init)$/)
        printf "    if (status_ == PMIX_SUCCESS) {\n        sx_trace_self(proc);\n    }\n"
    printf "    return status_;\n}\n\n"
}

/^PMIX_EXPORT|^typedef void \(\*pmix_/ {
    line = $0
    while (line !~ /;/ && (getline more) > 0)
        line = line " " more
    gsub(/[ \t]+/, " ", line)
    if (line ~ /^typedef/) {
        if (FILENAME ~ /pmix_common\.h$/)
            callback_make(line)
        next
    }
    if (FILENAME ~ /pmix_common\.h$/ || line !~ /^PMIX_EXPORT pmix_status_t PMIx_/)
        next
    fn = line
    sub(/^PMIX_EXPORT pmix_status_t /, "", fn)
    sub(/\(.*/, "", fn)
    if (!is_traced(fn))
        next
    sub(/^[^(]*\(/, "", line)
    sub(/\);.*/, "", line)
    params_cut(line)
    functions[++function_count] = fn
    if (MAKE == "wrappers")
        wrapper_make(line)
}

END {
    if (MAKE != "names")
        exit
    printf "/* Made by cmake/trace.awk of the headers of PMIx: the functions that are traced. */\n"
    printf "#ifndef SX_TRACE_NAMES_H\n#define SX_TRACE_NAMES_H\n\nenum {\n"
    for (i = 1; i <= function_count; i++)
        printf "    SX_TRACE_%s,\n", functions[i]
    printf "    SX_TRACE_FUNCTIONS\n};\n\n#define SX_TRACE_NAMES_EACH(X) \\\n"
    for (i = 1; i <= function_count; i++)
        printf "    X(%s)%s\n", functions[i], i < function_count ? " \\" : ""
    printf "\n#endif\n"
}
